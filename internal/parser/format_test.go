// SPDX-License-Identifier: Apache-2.0

package parser

import "testing"

// TestCallsOfOtherSyntaxesWereTakenForJSON is about templates whose tag is Hermes' and whose calls are not: the model's calls came
// out as text.
func TestCallsOfOtherSyntaxesWereTakenForJSON(t *testing.T) {
	for _, tt := range []struct {
		template string
		want     string
	}{
		{`<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>`, "<tool_call>"},
		{`<tool_call>\n<function=f>\n<parameter=a>`, ""},
		{`<tool_call>f\n<arg_key>a</arg_key><arg_value>`, ""},
		{`<tool_call><invoke name="f"><a>`, ""},
	} {
		if got := DetectFormat(tt.template).ToolOpen; got != tt.want {
			t.Errorf("%s: calls open with %q, want %q", tt.template, got, tt.want)
		}
	}
}
