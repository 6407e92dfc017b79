// SPDX-License-Identifier: Apache-2.0

package packed

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/weights"
)

// Reads says whether a quantization_config is of a kind that this package is for. Open may still refuse it.
func Reads(config *ordjson.Object) bool {
	method, _ := config.String("quant_method")
	return method == "fp8" || method == "mxfp4" || method == "compressed-tensors"
}

// A Source gives the tensors of another one, and matrices in place of packed ones.
type Source struct {
	weights.Source
	names    []string           // of all tensors
	plain    map[string]bool    // those that are given as they are
	matrices map[string]*matrix // the others
	parallel func(n int, work func(i, worker int))

	mu   sync.Mutex // guards made
	made map[string][]byte
}

// A matrix is one that is packed.
type matrix struct {
	weights.Tensor        // what it becomes, without data
	codes, scales  string // the names of its tensors
	// open gives the function that makes n rows from first on of codes and scales.
	open func(codes, scales weights.Tensor) (rows func(dst []byte, first, n int))
}

// Open wraps the source of a model with this quantization_config. It fails if a packed matrix has no scales, or scales of
// a shape that does not belong to it. Closing the result closes src.
func Open(src weights.Source, config *ordjson.Object) (*Source, error) {
	s := &Source{Source: src, plain: map[string]bool{}, matrices: map[string]*matrix{}, made: map[string][]byte{}}
	s.Parallel(nil)
	var err error
	switch method, _ := config.String("quant_method"); method {
	case "fp8":
		sizes, _ := config.Array("weight_block_size")
		err = s.openFP8(sizes)
	case "mxfp4":
		err = s.openMXFP4("_blocks", "_scales")
	case "compressed-tensors":
		err = s.openCompressed(config)
	default:
		err = fmt.Errorf("quantization_config: quant_method %q is not supported, want fp8, mxfp4 or compressed-tensors", method)
	}
	if err != nil {
		return nil, err
	}
	for _, name := range src.Names() {
		if s.plain[name] {
			s.names = append(s.names, name)
		}
	}
	for name := range s.matrices {
		if s.plain[name] {
			return nil, fmt.Errorf("packed: tensor %q is there both packed and plain", name)
		}
		s.names = append(s.names, name)
	}
	slices.Sort(s.names[len(s.plain):])
	return s, nil
}

// openCompressed reads compressed-tensors, which must treat all matrices alike.
func (s *Source) openCompressed(config *ordjson.Object) error {
	groups, _ := config.Object("config_groups")
	if groups == nil || groups.Len() != 1 {
		return errors.New("quantization_config: config_groups: want one group")
	}
	name := groups.Keys()[0]
	group, _ := groups.Object(name)
	scheme, ok := group.Object("weights")
	if !ok {
		return fmt.Errorf("quantization_config: config_groups.%s: no weights", name)
	}
	switch format, _ := config.String("format"); format {
	case "float-quantized":
		sizes, _ := scheme.Array("block_structure")
		return s.openFP8(sizes)
	case "mxfp4-pack-quantized":
		return s.openMXFP4(".weight_packed", ".weight_scale")
	default:
		return fmt.Errorf("quantization_config: compressed-tensors format %q is not supported, want float-quantized or mxfp4-pack-quantized", format)
	}
}

// isActivation says whether a tensor has scales of activations.
func isActivation(name string) bool {
	return strings.HasSuffix(name, ".input_scale") || strings.HasSuffix(name, ".activation_scale") || strings.HasSuffix(name, ".input_global_scale")
}

// Parallel lets the source share its work by a pool's Do: whoever asks for tensors from now on must be allowed to use the
// pool. Nil: it works alone.
func (s *Source) Parallel(do func(n int, work func(i, worker int))) {
	if do == nil {
		do = func(n int, work func(i, worker int)) {
			for i := range n {
				work(i, 0)
			}
		}
	}
	s.parallel = do
}

// Names lists the names of plain tensors in the order of the file, then those of matrices.
func (s *Source) Names() []string { return s.names }

// Describe gives a tensor without its data, which need not be made for it.
func (s *Source) Describe(name string) (weights.Tensor, bool) {
	if m := s.matrices[name]; m != nil {
		return m.Tensor, true
	}
	if !s.plain[name] {
		return weights.Tensor{}, false
	}
	return weights.Describe(s.Source, name)
}

// Tensor gives a tensor.
func (s *Source) Tensor(name string) (weights.Tensor, bool) {
	m := s.matrices[name]
	if m == nil {
		if !s.plain[name] {
			return weights.Tensor{}, false
		}
		return s.Source.Tensor(name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made[name] == nil {
		s.made[name] = s.unpack(m)
	}
	t := m.Tensor
	t.Data = s.made[name]
	return t, true
}

// pieceBytes is about how much of a matrix a thread makes at a time.
const pieceBytes = 1 << 18

// unpack makes the data of a matrix.
func (s *Source) unpack(m *matrix) []byte {
	codes, _ := s.Source.Tensor(m.codes)
	scales, _ := s.Source.Tensor(m.scales)
	cols := m.Shape[len(m.Shape)-1]
	size := m.Type.RowBytes(cols)
	data := make([]byte, m.Elems()/max(1, cols)*size)
	if len(data) == 0 {
		return data
	}
	unpack := m.open(codes, scales)
	rows := len(data) / size
	step := max(1, pieceBytes/size)
	s.parallel((rows+step-1)/step, func(piece, _ int) {
		first := piece * step
		n := min(step, rows-first)
		unpack(data[first*size:][:n*size], first, n)
	})
	weights.Release(s.Source, codes)
	weights.Release(s.Source, scales)
	return data
}

// Release lets go of a matrix that was made: asking for it makes it again. Who still holds it keeps it.
func (s *Source) Release(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, made := range s.made {
		if len(made) > 0 && len(data) > 0 && &made[0] == &data[0] {
			delete(s.made, name)
			return
		}
	}
	weights.Release(s.Source, weights.Tensor{Data: data})
}
