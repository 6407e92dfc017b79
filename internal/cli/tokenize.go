// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// maxInputBytes caps what commands read from standard input, and api from files.
const maxInputBytes = 1 << 30

// maxSmallFile caps files of settings: configurations, keys, chat templates.
const maxSmallFile = 16 << 20

// newTokenize turns standard input into token IDs, or back.
func newTokenize(env *Env) *cobra.Command {
	var decode, parseSpecial, noBOS bool
	cmd := &cobra.Command{
		Use: "tokenize MODEL_OR_PATH", Short: "Print the token IDs of standard input", Args: exactArgs("MODEL_OR_PATH"),
		Long: "Read standard input byte for byte and print its token IDs as one JSON array. With --decode, read such an\n" +
			"array and print its text, special tokens included; broken UTF-8 becomes U+FFFD.",
		Example: "  printf 'Hello' | sampo tokenize sampo/mini-chat",
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := openTokenizer(env, args[0])
			if err != nil {
				return err
			}
			input, err := readInput(env.Stdin)
			if err != nil {
				return err
			}
			if decode {
				return printText(env, t, input)
			}
			ids := t.Encode(string(input), tokenizer.Options{ParseSpecial: parseSpecial, AddSpecial: !noBOS})
			if ids == nil {
				ids = []token.ID{}
			}
			text, err := json.Marshal(ids)
			if err != nil {
				return err
			}
			fmt.Fprintf(env.Stdout, "%s\n", text)
			return nil
		},
	}
	cmd.Flags().BoolVar(&decode, "decode", false, "read a JSON array of token IDs and print their text")
	cmd.Flags().BoolVar(&parseSpecial, "parse-special", false, "let the text of control tokens become control tokens")
	cmd.Flags().BoolVar(&noBOS, "no-bos", false, "add no special tokens at all")
	return cmd
}

// openTokenizer opens the tokenizer of a model, or a tokenizer.json.
func openTokenizer(env *Env, name string) (*tokenizer.Tokenizer, error) {
	if info, err := os.Stat(name); err == nil && !info.IsDir() && strings.HasSuffix(name, ".json") {
		if !info.Mode().IsRegular() { // a named pipe would wait for its writer, a device may have no end
			return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
		}
		text, err := readUpTo(name, bundle.MaxTokenizerBytes)
		if err != nil {
			return nil, err
		}
		t, err := tokenizer.FromJSON(text, nil)
		if err == nil {
			bundle.MarkControl(t)
		}
		return t, err
	}
	b, err := openText(env, name)
	if err != nil {
		return nil, err
	}
	if b.Tokenizer == nil {
		return nil, fmt.Errorf("tokenize: %s has no tokenizer", name)
	}
	return b.Tokenizer, nil
}

// openText opens what a model knows of text. Its weights stay closed.
func openText(env *Env, name string) (*bundle.Bundle, error) {
	found, err := env.find(name)
	if err != nil {
		return nil, err
	}
	return found.Open(bundle.Options{TextOnly: true})
}

// readSmall reads a file of settings. One that has no end, such as a device, is refused.
func readSmall(path string) ([]byte, error) { return readUpTo(path, maxSmallFile) }

func readUpTo(path string, limit int64) ([]byte, error) {
	if mayWait(path) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, over, err := readAtMost(f, limit)
	if over {
		err = fmt.Errorf("read %s: file exceeds %d bytes", path, limit)
	}
	return text, err
}

// mayWait says whether reading a file may wait without an end, as that of a named pipe does. What lies in /dev or /proc is meant, as
// <(command) of a shell is.
func mayWait(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir() && !strings.HasPrefix(path, "/dev/") && !strings.HasPrefix(path, "/proc/")
}

// readAtMost reads r to its end, and stops one byte behind a limit: then over is set.
func readAtMost(r io.Reader, limit int64) (data []byte, over bool, err error) {
	data, err = io.ReadAll(io.LimitReader(r, limit+1))
	return data, err == nil && int64(len(data)) > limit, err
}

// readInput reads standard input up to the cap.
func readInput(r io.Reader) ([]byte, error) {
	input, over, err := readAtMost(r, maxInputBytes)
	if err != nil {
		return nil, fmt.Errorf("reading standard input: %w", err)
	}
	if over {
		return nil, usagef("standard input is over %s", formatBytes(maxInputBytes))
	}
	return input, nil
}

// printText prints the text of a JSON array of token IDs.
func printText(env *Env, t *tokenizer.Tokenizer, input []byte) error {
	var numbers []*token.ID // null is no ID
	if err := json.Unmarshal(input, &numbers); err != nil {
		var other *json.UnmarshalTypeError
		if errors.As(err, &other) { // its text has Go's names of types
			err = fmt.Errorf("there is %s at byte %d", other.Value, other.Offset)
		}
		return usagef("tokenize: standard input is not a JSON array of token IDs: %w", err)
	}
	ids := make([]token.ID, len(numbers))
	for i, id := range numbers {
		switch {
		case id == nil:
			return usagef("tokenize: [%d]: standard input is not a JSON array of token IDs: null", i)
		case *id < 0 || int(*id) >= t.VocabSize():
			return usagef("tokenize: [%d]: token %d is outside the vocabulary of %d", i, *id, t.VocabSize())
		}
		ids[i] = *id
	}
	_, err := io.WriteString(env.Stdout, t.Decode(ids, false))
	return err
}
