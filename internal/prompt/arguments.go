// SPDX-License-Identifier: Apache-2.0

package prompt

import (
	"fmt"

	"github.com/sampo-ai/sampo/internal/ordjson"
)

// An ArgumentsError says that the arguments of an earlier tool call are no JSON object, which this template needs.
type ArgumentsError struct{ Field string }

func (e *ArgumentsError) Error() string {
	return fmt.Sprintf("prompt: %s: not a JSON object, which the model's template needs", e.Field)
}

// wantedArguments returns the arguments of a tool call as the template wants them: an object or its JSON text.
func (t *Template) wantedArguments(args any) (any, *ArgumentsError) {
	if !t.facts.ArgumentsObject {
		if o, ok := args.(*ordjson.Object); ok {
			return ordjson.Marshal(o), nil
		}
		return args, nil
	}
	text, ok := args.(string)
	if !ok {
		return args, nil
	}
	if text == "" {
		return ordjson.NewObject(), nil
	}
	if v, err := ordjson.Parse([]byte(text), ordjson.DefaultDepth); err == nil {
		if o, ok := v.(*ordjson.Object); ok {
			return o, nil
		}
	}
	if t.facts.ArgumentsText {
		return text, nil
	}
	return nil, &ArgumentsError{}
}
