// SPDX-License-Identifier: Apache-2.0

// Command idsof prints the token IDs of texts, for comparison with other tokenizers.
//
//	idsof [-special] [-decode] [-config tokenizer_config.json] tokenizer.json|vocab.json|tekken-*.json|FILE|FOLDER < texts
//
// Each line of the input is a text in base64; each line of the output is a JSON array of IDs. With -decode the input is such
// arrays and the output is texts in base64. A vocab.json is what ggufvocab.py makes of a GGUF file's metadata; tekken-*.json is
// Mistral's kind of file. FILE is a tokenizer.model or a tiktoken file, FOLDER has vocab.json and merges.txt, or vocab.txt.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

func main() {
	special := flag.Bool("special", false, "find control tokens in the text")
	decode := flag.Bool("decode", false, "turn IDs into text")
	stats := flag.Bool("stats", false, "print load time and speed on standard error")
	config := flag.String("config", "", "a tokenizer_config.json")
	flag.Parse()
	if err := run(flag.Arg(0), *config, *special, *decode, *stats); err != nil {
		fmt.Fprintln(os.Stderr, "idsof:", err)
		os.Exit(1)
	}
}

func run(path, config string, special, decode, stats bool) error {
	start := time.Now()
	t, err := open(path, config)
	if err != nil {
		return err
	}
	loaded := time.Since(start)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<30)
	out := bufio.NewWriter(os.Stdout)
	size, spent := 0, time.Duration(0)
	for in.Scan() {
		if decode {
			var ids []token.ID
			if err := json.Unmarshal(in.Bytes(), &ids); err != nil {
				return err
			}
			fmt.Fprintln(out, base64.StdEncoding.EncodeToString([]byte(t.Decode(ids, false))))
			continue
		}
		text, err := base64.StdEncoding.DecodeString(in.Text())
		if err != nil {
			return err
		}
		begin := time.Now()
		ids := t.Encode(string(text), tokenizer.Options{ParseSpecial: special})
		spent += time.Since(begin)
		size += len(text)
		line, err := json.Marshal(ids)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, string(line))
	}
	if stats {
		fmt.Fprintf(os.Stderr, "load %v, %d bytes, %.1f MB/s\n", loaded, size, float64(size)/1e6/spent.Seconds())
	}
	if err := in.Err(); err != nil {
		return err
	}
	return out.Flush()
}

// open reads any of the files that Command idsof names.
func open(path, configPath string) (*tokenizer.Tokenizer, error) {
	var config []byte
	if configPath != "" {
		var err error
		if config, err = os.ReadFile(configPath); err != nil {
			return nil, err
		}
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return openFolder(path, config)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	switch base := filepath.Base(path); {
	case tokenizer.IsTiktoken(data):
		return tokenizer.FromTiktoken(data, config)
	case !strings.HasSuffix(base, ".json"):
		return tokenizer.FromSentencePiece(data, config)
	case strings.HasPrefix(base, "tekken-"):
		return tokenizer.FromTekken(data)
	case !strings.HasSuffix(base, "vocab.json"):
		return tokenizer.FromJSON(data, config)
	}
	v := tokenizer.NewVocab()
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	return tokenizer.FromGGUF(v)
}

// openFolder reads a vocabulary that is not one file.
func openFolder(dir string, config []byte) (*tokenizer.Tokenizer, error) {
	f := tokenizer.VocabFiles{Config: config}
	var err error
	if f.Vocab, err = os.ReadFile(filepath.Join(dir, "vocab.txt")); err == nil {
		return tokenizer.FromVocabFiles(f)
	}
	if f.Vocab, err = os.ReadFile(filepath.Join(dir, "vocab.json")); err != nil {
		return nil, err
	}
	if f.Merges, err = os.ReadFile(filepath.Join(dir, "merges.txt")); err != nil {
		return nil, err
	}
	return tokenizer.FromVocabFiles(f)
}
