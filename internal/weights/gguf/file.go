// SPDX-License-Identifier: Apache-2.0

package gguf

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/sampo-ai/sampo/internal/weights"
)

// A File is an open model: one GGUF file, or all files of a split one. It is a weights.Source. It may be used by
// several goroutines at once, until one closes it.
type File struct {
	parts   []*weights.Mapping
	meta    *Metadata
	names   []string
	tensors map[string]weights.Tensor
}

// Open opens the model that the file at path holds or is a part of. The parts of a split model are looked for in the
// same folder only.
func Open(path string) (*File, error) {
	name, ok := ParseSplit(filepath.Base(path))
	if !ok {
		m, err := weights.Open(path)
		if err != nil {
			return nil, fmt.Errorf("gguf: %w", err)
		}
		return assemble([]*weights.Mapping{m})
	}
	if name.Count > maxParts {
		return nil, &weights.FileError{Format: "gguf", File: path, What: "file name", Offset: -1, Reason: fmt.Sprintf("%d parts, want at most %d", name.Count, maxParts)}
	}
	var parts []*weights.Mapping
	for i := range name.Count {
		m, err := weights.MapIn(filepath.Dir(path), name.Part(i+1))
		if err != nil {
			err = fmt.Errorf("gguf: part %d of %d: %w", i+1, name.Count, err)
			return nil, errors.Join(err, closeAll(parts))
		}
		parts = append(parts, m)
	}
	return assemble(parts)
}

// OpenBytes opens a model that is in memory already. Nobody may write to data as long as the File is in use. The name
// is for errors.
func OpenBytes(name string, data []byte) (*File, error) {
	return assemble([]*weights.Mapping{weights.InMemory(name, data)})
}

// A SplitName is the name of one file of a split model: PREFIX-NUMBER-of-COUNT.gguf, with five digits each.
type SplitName struct {
	Prefix        string
	Number, Count int // Number is from 1 to Count
}

var splitPattern = regexp.MustCompile(`^(.+)-([0-9]{5})-of-([0-9]{5})\.gguf$`)

// ParseSplit takes the name of a file apart. It is not ok for a file that is a model of its own.
func ParseSplit(base string) (name SplitName, ok bool) {
	m := splitPattern.FindStringSubmatch(base)
	if m == nil {
		return SplitName{}, false
	}
	number, _ := strconv.Atoi(m[2]) // five digits are a number
	count, _ := strconv.Atoi(m[3])
	return SplitName{m[1], number, count}, number >= 1 && number <= count
}

// Part is the name of the file with the given number.
func (n SplitName) Part(number int) string {
	return fmt.Sprintf("%s-%05d-of-%05d.gguf", n.Prefix, number, n.Count)
}

// assemble reads the parts of a model and puts them together. It closes them if it fails.
func assemble(parts []*weights.Mapping) (*File, error) {
	f := &File{parts: parts, tensors: map[string]weights.Tensor{}}
	for i, part := range parts {
		if err := f.add(i, part); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	if want, ok := f.meta.Int(keySplitTensors); ok && len(parts) > 1 && want != int64(len(f.names)) {
		err := partError(parts[0], "key %q is %d, but the parts have %d tensors", keySplitTensors, want, len(f.names))
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// add reads part i and takes its tensors.
func (f *File) add(i int, part *weights.Mapping) error {
	h, err := parse(part.Path(), part.Bytes())
	if err != nil {
		return err
	}
	if err := checkSplit(h.meta, i, len(f.parts), part); err != nil {
		return err
	}
	if i == 0 {
		f.meta = h.meta // later parts repeat little of it
	}
	for _, t := range h.tensors {
		if _, ok := f.tensors[t.Name]; ok {
			return &weights.FileError{Format: "gguf", File: part.Path(), What: fmt.Sprintf("tensor %q", t.Name), Offset: int64(t.at), Reason: "appears twice"}
		}
		f.tensors[t.Name] = t.Tensor
		f.names = append(f.names, t.Name)
	}
	return nil
}

// checkSplit compares what a file says about its place in a split model with the place that its name gives it.
func checkSplit(m *Metadata, i, parts int, part *weights.Mapping) error {
	count, ok := m.Int(keySplitCount)
	switch {
	case !ok && parts > 1:
		return partError(part, "key %q is missing, but the file name says %d parts", keySplitCount, parts)
	case !ok || count <= 1 && parts == 1:
		return nil
	case parts == 1:
		return partError(part, "key %q is %d: the model is split, and its parts must keep their names -00001-of-%05d.gguf", keySplitCount, count, count)
	case count != int64(parts):
		return partError(part, "key %q is %d, but the file name says %d parts", keySplitCount, count, parts)
	}
	if number, ok := m.Int(keySplitNumber); !ok || number != int64(i) {
		return partError(part, "key %q is %d, but the file name says part %d, whose number is %d", keySplitNumber, number, i+1, i)
	}
	return nil
}

func partError(part *weights.Mapping, format string, args ...any) error {
	return &weights.FileError{Format: "gguf", File: part.Path(), What: "split model", Offset: -1, Reason: fmt.Sprintf(format, args...)}
}

// Meta is the metadata of the model, which is that of its first file.
func (f *File) Meta() *Metadata { return f.meta }

// Names lists the tensors in the order of the files. The caller must not change it.
func (f *File) Names() []string { return f.names }

// Tensor gives the tensor with a name.
func (f *File) Tensor(name string) (weights.Tensor, bool) {
	t, ok := f.tensors[name]
	return t, ok
}

// Bytes is the size of all files together.
func (f *File) Bytes() int64 {
	var n int64
	for _, p := range f.parts {
		n += int64(len(p.Bytes()))
	}
	return n
}

// Release gives back the memory that mirrors the bytes of a tensor (see weights.Release).
func (f *File) Release(data []byte) {
	for _, p := range f.parts {
		p.Release(data)
	}
}

// Close closes the files. Tensors must not be used after it; metadata may.
func (f *File) Close() error { return closeAll(f.parts) }

func closeAll(parts []*weights.Mapping) error {
	var errs []error
	for _, p := range parts {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}
