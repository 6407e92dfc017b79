// SPDX-License-Identifier: Apache-2.0

package tokenizer

import "sync"

// A props is a set of properties of a code point that patterns and BERT's rules ask for, beyond its class. The table is
// generated for the same reason as that of the classes.
type props uint16

// The bits are those of tools/tokenizers/unicode_props.py.
const (
	propBertAccent  props = 1 << iota // a mark that BertNormalizer's strip_accents removes
	propAccent                        // a mark that StripAccents removes
	propBertRemoved                   // removed by BertNormalizer's clean_text
	propBertPunct                     // punctuation to BertPreTokenizer and Punctuation
	propWord                          // \w of the Whitespace pre-tokenizer
	propPatternWord                   // \w of patterns
	propDigit                         // \d of patterns
	propAttached                      // belongs to the grapheme cluster of what stands before it
	propPrepended                     // and of what stands behind it
	propControl                       // a cluster by itself
	propPicture                       // joined by U+200D to a picture before
)

// The properties of r are propBlocks[propIndex[r/256]*256 + r%256].
var (
	propIndex  [0x1100]uint8
	propBlocks []props
	loadProps  = sync.OnceFunc(buildProps)
)

// buildProps unpacks propRuns. Stages that need properties call loadProps when they are made.
func buildProps() {
	seen := map[[256]props]uint8{}
	var block [256]props
	run, current := 0, props(0)
	for b := range propIndex {
		for i := range block {
			if r := uint32(b<<8 | i); run < len(propRuns) && propRuns[run]>>11 == r {
				current = props(propRuns[run] & (1<<11 - 1))
				run++
			}
			block[i] = current
		}
		n, ok := seen[block]
		if !ok {
			n = uint8(len(seen))
			seen[block] = n
			propBlocks = append(propBlocks, block[:]...)
		}
		propIndex[b] = n
	}
}

func propsOf(r rune) props {
	return propBlocks[uint(propIndex[r>>8])<<8|uint(r&0xff)]
}

func (p props) has(flag props) bool { return p&flag != 0 }
