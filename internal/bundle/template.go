// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// defaultTemplate is the name of the main template in lists of named ones.
const defaultTemplate = "default"

// ToolUse is the name of the template for conversations with tools.
const ToolUse = "tool_use"

// templates are the chat templates of a model by name.
type templates map[string]string

// add adds a template unless an earlier place had one of its name.
func (t templates) add(name, source string) error {
	if _, ok := t[name]; ok {
		return nil
	}
	if len(source) > maxTemplateBytes {
		return fmt.Errorf("chat template %.40q of %d bytes, want at most %d", name, len(source), maxTemplateBytes)
	}
	if len(t) >= maxTemplates {
		return fmt.Errorf("more than %d chat templates", maxTemplates)
	}
	t[name] = source
	return nil
}

// split gives the main template and the others.
func (t templates) split() (main string, named map[string]string) {
	main = t[defaultTemplate]
	delete(t, defaultTemplate)
	if len(t) == 0 {
		return main, nil
	}
	return main, t
}

// ggufTemplates reads the templates of a GGUF file.
func ggufTemplates(meta *gguf.Metadata) (templates, error) {
	const key = "tokenizer.chat_template"
	t := templates{}
	for _, k := range meta.Keys() {
		name := defaultTemplate
		if k != key {
			var ok bool
			if name, ok = strings.CutPrefix(k, key+"."); !ok {
				continue
			}
		}
		source, ok := meta.String(k)
		if !ok {
			return nil, fmt.Errorf("key %q is not a string", k)
		}
		if err := t.add(name, source); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// folderTemplates reads the templates of a folder from all places where writers have put them, newest first.
func folderTemplates(dir string, tokenizerConfig *ordjson.Object) (templates, error) {
	t := templates{}
	if err := t.addFile(dir, "chat_template.jinja", defaultTemplate); err != nil {
		return nil, err
	}
	const more = "additional_chat_templates"
	entries, err := os.ReadDir(filepath.Join(dir, more))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".jinja"); ok {
			if err := t.addFile(dir, filepath.Join(more, e.Name()), name); err != nil {
				return nil, err
			}
		}
	}
	if err := t.addField(tokenizerConfig, "tokenizer_config.json"); err != nil {
		return nil, err
	}
	processor, err := readJSON(dir, "chat_template.json")
	if err != nil {
		return nil, err
	}
	return t, t.addField(processor, "chat_template.json")
}

// addFile adds the template that a file of dir holds, if there is one.
func (t templates) addFile(dir, file, name string) error {
	source, err := weights.ReadIn(dir, file, maxTemplateBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return t.add(name, string(source))
}

// addField adds what the field chat_template of a JSON file holds: a template, or a list of {"name", "template"}.
func (t templates) addField(o *ordjson.Object, file string) error {
	if o == nil {
		return nil
	}
	value, _ := o.Get("chat_template")
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		return t.add(defaultTemplate, v)
	case []any:
		for _, e := range v {
			entry, _ := e.(*ordjson.Object)
			name, named := entry.String("name")
			source, ok := entry.String("template")
			if !named || !ok {
				return fmt.Errorf("%s: chat_template: an entry has no name or no template", file)
			}
			if err := t.add(name, source); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
		return nil
	}
	return fmt.Errorf("%s: chat_template is neither a string nor a list", file)
}
