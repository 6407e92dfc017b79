// SPDX-License-Identifier: Apache-2.0

package prompt

import (
	"strings"
	"testing"
	"time"

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
		request, err := ordjson.Parse([]byte(`{"messages":[{"role":"user","content":"hi"}],"tools":[`+tt.tool+`]}`), ordjson.DefaultDepth)
		if err != nil {
			t.Fatal(err)
		}
		out, err := mustNew(t, tt.source).RenderJSON(request.(*ordjson.Object), Served, time.Time{})
		if got := Text(out); err != nil || got != tt.want {
			t.Errorf("%s as a request: got %q, error %v; want %q", tt.tool, got, err, tt.want)
		}
	}
}

// TestTheTemplateForToolsWasNeverUsed is about models with a template of the name tool_use, such as Hermes 3.
func TestTheTemplateForToolsWasNeverUsed(t *testing.T) {
	const main, tools = `{% for m in messages %}{{ m.content }}{% endfor %}`, `{{ tools | tojson }} {% for m in messages %}{{ m.content }}{% endfor %}`
	tpl, err := New(main, Options{ToolUse: tools})
	if err != nil {
		t.Fatal(err)
	}
	if !tpl.TakesTools() {
		t.Error("it takes no tools")
	}
	tool := ordjson.NewObject()
	tool.Set("name", "f")
	conv := chat.Conversation{Messages: []chat.Message{{Role: "user", Content: []chat.Part{{Text: "hi"}}}}}
	for _, tt := range []struct {
		tools         []chat.Tool
		request, want string
	}{
		{nil, `{"messages":[{"role":"user","content":"hi"}],"tools":[]}`, "hi"},
		{[]chat.Tool{{Name: "f", Raw: tool}}, `{"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f"}]}`, `[{"name": "f"}] hi`},
	} {
		conv.Tools = tt.tools
		out, err := tpl.Render(t.Context(), conv)
		if got := Text(out); err != nil || got != tt.want {
			t.Errorf("%d tools: got %q, error %v; want %q", len(tt.tools), got, err, tt.want)
		}
		request, err := ordjson.Parse([]byte(tt.request), ordjson.DefaultDepth)
		if err != nil {
			t.Fatal(err)
		}
		out, err = tpl.RenderJSON(request.(*ordjson.Object), Raw, time.Time{})
		if got := Text(out); err != nil || got != tt.want {
			t.Errorf("%s: got %q, error %v; want %q", tt.request, got, err, tt.want)
		}
	}
	if _, err := New(main, Options{ToolUse: "{% if %}"}); err == nil || !strings.Contains(err.Error(), "tool_use") {
		t.Errorf("a broken one: error %v, want one that names it", err)
	}
}
