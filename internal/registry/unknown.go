// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/assets"
)

// ErrUnknownModel says that no model of this machine has a name.
var ErrUnknownModel = errors.New("unknown model")

// An UnknownError is an ErrUnknownModel with what may help.
type UnknownError struct {
	Name     string
	Near     []string // names of models that are here and look alike
	Variants []string // names of models that are here and of the same repository
}

// repoPattern is a name of huggingface.co, perhaps with a variant and a backend.
var repoPattern = regexp.MustCompile(`^([\w.-]+/[\w.-]+)(:[\w./-]+)?(@[a-z][a-z0-9-]*)?$`)

// HowToGet says which commands get a model and serve it: Sampo itself downloads nothing, and the built-in model is on no hub.
// With ok false, the name is none that huggingface.co may know.
func HowToGet(name string) (commands string, ok bool) {
	m := repoPattern.FindStringSubmatch(name)
	switch {
	case m == nil:
		return "hf download OWNER/NAME, then sampo serve OWNER/NAME", false
	case m[1] == assets.MiniChatName:
		return "sampo serve " + m[1], true
	}
	return fmt.Sprintf("hf download %s, then sampo serve %s", m[1], name), true
}

// Error says what to do next.
func (e *UnknownError) Error() string {
	var b strings.Builder
	if len(e.Variants) > 0 {
		repo, variant, _ := strings.Cut(e.Name, ":")
		fmt.Fprintf(&b, "registry: %s has no %q on this machine; it has %s", repo, variant, strings.Join(e.Variants, ", "))
	} else {
		fmt.Fprintf(&b, "registry: model %q is not on this machine", e.Name)
	}
	if len(e.Near) > 0 {
		fmt.Fprintf(&b, "; near it: %s", strings.Join(e.Near, ", "))
	}
	if get, ok := HowToGet(e.Name); ok {
		fmt.Fprintf(&b, "; to get it: %s (sampo pull %s says more)", get, e.Name)
	} else {
		fmt.Fprintf(&b, "; sampo list shows those that are; to get another: %s (sampo pull OWNER/NAME says more)", get)
	}
	return b.String()
}

// Is makes errors.Is(err, ErrUnknownModel) true.
func (e *UnknownError) Is(target error) bool { return target == ErrUnknownModel }

// maxNear is the number of names that an UnknownError offers.
const maxNear = 3

// unknown makes the error for a name that no model has.
func unknown(name string, all []Model) error {
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, m := range all {
		if d, ok := likeness(strings.ToLower(name), strings.ToLower(m.Name), strings.ToLower(m.Repo)); ok {
			near = append(near, candidate{m.Name, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	e := &UnknownError{Name: name}
	for _, c := range near[:min(len(near), maxNear)] {
		e.Near = append(e.Near, c.name)
	}
	return e
}

// likeness says how far a name is from the names of a model, and whether that is near: one contains the other, or at
// most a third of the letters differ.
func likeness(name string, names ...string) (best int, near bool) {
	best = 1 << 30
	for _, other := range names {
		_, short, _ := strings.Cut(other, "/")
		for _, o := range []string{other, short} {
			if o == "" {
				continue
			}
			d := distance(name, o)
			if strings.Contains(o, name) || strings.Contains(name, o) {
				near = true
				d = min(d, 1)
			}
			near = near || d <= max(len(name), len(o))/3
			best = min(best, d)
		}
	}
	return best, near
}

// maxCompared is the length up to which names are compared letter by letter.
const maxCompared = 200

// distance is the number of letters to insert, delete or change to make b of a (Levenshtein 1965).
func distance(a, b string) int {
	a, b = a[:min(len(a), maxCompared)], b[:min(len(b), maxCompared)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
