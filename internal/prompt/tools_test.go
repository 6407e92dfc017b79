// SPDX-License-Identifier: Apache-2.0

package prompt

import (
	"testing"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/ordjson"
)

// TestFunctionsWithoutParametersFailedInTemplates is about templates that read what a client may leave out, as Hermes' do.
func TestFunctionsWithoutParametersFailedInTemplates(t *testing.T) {
	const needy = `{% for t in tools or [] %}{{ t.function.name + ': ' + t.function.description }}{% for k in t.function.parameters.properties %} {{ k }}{% endfor %};{% endfor %}` +
		`{% for m in messages %}{{ m.content }}{% endfor %}`
	const lenient = `{% for t in tools or [] %}{{ t | tojson }};{% endfor %}{% for m in messages %}{{ m.content }}{% endfor %}`
	for _, tt := range []struct{ source, tool, want string }{
		{needy, `{"type":"function","function":{"name":"f"}}`, "f: ;hi"},
		{needy, `{"type":"function","function":{"name":"f","description":null,"parameters":null}}`, "f: ;hi"},
		{needy, `{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{}}}}}`, "f: d a;hi"},
		{lenient, `{"type":"function","function":{"name":"f"}}`, `{"type": "function", "function": {"name": "f"}};hi`},
	} {
		raw, err := ordjson.Parse([]byte(tt.tool), ordjson.DefaultDepth)
		if err != nil {
			t.Fatal(err)
		}
		got := renderText(t, tt.source, chat.Conversation{
			Messages: []chat.Message{{Role: "user", Content: []chat.Part{{Text: "hi"}}}},
			Tools:    []chat.Tool{{Name: "f", Raw: raw.(*ordjson.Object)}},
		})
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.tool, got, tt.want)
		}
	}
}
