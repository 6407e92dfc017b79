// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sampo-ai/sampo/assets"
	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/prompt"
	"github.com/sampo-ai/sampo/internal/prompt/jinja"
)

// maxRequestDepth is how deep the JSON of a request may nest.
const maxRequestDepth = 512

// renderFlags are the flags of render.
type renderFlags struct {
	template string
	raw      bool
	strict   bool
	now      string
}

// newRender prints the exact prompt of a request.
func newRender(env *Env) *cobra.Command {
	f := &renderFlags{}
	cmd := &cobra.Command{
		Use: "render [MODEL]", Short: "Print the exact prompt of a request",
		Long: "Read a request (a JSON object with the fields messages, tools, documents, add_generation_prompt,\n" +
			"continue_final_message, kwargs, bos_token, eos_token, unk_token and pad_token) from standard input and print the prompt\n" +
			"that the model's chat template makes of it, with nothing added. The status is 1 if the template raised an error, and\n" +
			"2 if the JSON or the template is wrong.",
		Example: "  echo '{\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}], \"add_generation_prompt\": true}' | sampo render",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("render: unexpected argument %q", args[1])
			}
			name := assets.MiniChatName
			if len(args) > 0 {
				name = args[0]
			}
			return f.render(env, name)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.template, "template", "", "file with the chat template; no MODEL is needed then")
	flags.BoolVar(&f.raw, "raw", false, "give the input to the template unchanged")
	flags.BoolVar(&f.strict, "strict", false, "use transformers' own environment: lists can't be changed, no from_json")
	flags.StringVar(&f.now, "now", "", "time that the template sees, as in 2026-03-15T09:26:53Z (default: now)")
	return cmd
}

func (f *renderFlags) render(env *Env, name string) error {
	now, err := f.time(env)
	if err != nil {
		return err
	}
	t, err := f.open(env, name)
	if err != nil {
		return err
	}
	input, err := readInput(env.Stdin)
	if err != nil {
		return err
	}
	value, err := ordjson.Parse(input, maxRequestDepth)
	if err != nil {
		return usagef("render: %v", err)
	}
	request, ok := value.(*ordjson.Object)
	if !ok {
		return usagef("render: standard input is not a JSON object")
	}
	if err := checkRequest(env, request); err != nil {
		return err
	}
	form := prompt.Served
	if f.raw {
		form = prompt.Raw
	}
	segments, err := t.RenderJSON(request, form, now)
	var bad *prompt.RequestError
	if errors.As(err, &bad) {
		return &usageError{err}
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(env.Stdout, prompt.Text(segments))
	return err
}

// requestFields are what render reads of a request.
var requestFields = []string{
	"messages", "tools", "documents", "add_generation_prompt", "continue_final_message", "kwargs",
	"bos_token", "eos_token", "unk_token", "pad_token",
}

// checkRequest warns of fields that change nothing here, such as others of a chat request, and refuses what the server does, too.
func checkRequest(env *Env, request *ordjson.Object) error {
	var ignored []string
	for name := range request.All() {
		if !slices.Contains(requestFields, name) {
			ignored = append(ignored, name)
		}
	}
	if len(ignored) > 0 {
		env.warn("the request has fields that render ignores: %s; variables of the template go into kwargs", strings.Join(ignored, ", "))
	}
	add, _ := request.Get("add_generation_prompt")
	if open, _ := request.Get("continue_final_message"); open == true && add == true {
		return usagef("render: continue_final_message and add_generation_prompt exclude each other")
	}
	return nil
}

// time returns the time that the template sees. One that was given is taken as written, whatever the zone here.
func (f *renderFlags) time(env *Env) (time.Time, error) {
	if f.now == "" {
		return env.Now(), nil
	}
	now, err := time.Parse(time.RFC3339, f.now)
	if err != nil {
		return now, usagef("--now: %q is not a time such as 2026-03-15T09:26:53Z", f.now)
	}
	return now, nil
}

// open parses the template of --template, or of a model.
func (f *renderFlags) open(env *Env, name string) (*prompt.Template, error) {
	opt := prompt.Options{Name: f.template, Strict: f.strict, Clock: env.Now}
	source, err := readTemplateFile(f.template)
	if err != nil {
		return nil, err
	}
	if source == "" {
		b, err := openText(env, name)
		if err != nil {
			return nil, err
		}
		if b.TemplateSource == "" {
			return nil, fmt.Errorf("render: %s has no chat template; --template FILE gives one", name)
		}
		source, opt.Name, opt.Tokens = b.TemplateSource, name, prompt.SpecialTokens(b.Special)
		opt.ToolUse = b.NamedTemplates[bundle.ToolUse]
	}
	t, err := prompt.New(source, opt)
	var syntax *jinja.SyntaxError
	if errors.As(err, &syntax) {
		return nil, &usageError{err}
	}
	return t, err
}
