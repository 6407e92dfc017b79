// SPDX-License-Identifier: Apache-2.0

package tokenizer

import "slices"

// Patterns as they are spelled in tokenizer.json files.
const (
	contractions   = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	patternSpaces  = `|\s*[\r\n]+|\s+(?!\S)|\s+`
	patternUpper   = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
	patternLower   = `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
	patternUpperNH = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]`
	patternLowerNH = `[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]`
	patternNone    = `[^\r\n\p{L}\p{N}]?`

	patternGPT2   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	patternLlama3 = contractions + `|` + patternNone + `\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*` + patternSpaces
	patternQwen2  = contractions + `|` + patternNone + `\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*` + patternSpaces
	patternQwen35 = contractions + `|` + patternNone + `[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*` + patternSpaces
	patternGPT4o  = patternNone + patternUpper + `*` + patternLower + `+` + contractions + `?|` +
		patternNone + patternUpper + `+` + patternLower + `*` + contractions + `?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*` + patternSpaces
	patternTekken = patternNone + patternUpper + `*` + patternLower + `+|` +
		patternNone + patternUpper + `+` + patternLower + `*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*` + patternSpaces
	patternKimi = `[\p{Han}]+|` + patternNone + patternUpperNH + `*` + patternLowerNH + `+` + contractions + `?|` +
		patternNone + patternUpperNH + `+` + patternLowerNH + `*` + contractions + `?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*` + patternSpaces
	patternDeepSeek = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
	patternCJK      = `[一-龥぀-ゟ゠-ヿ]+`
)

// patterns are the expressions that have a scanner.
var patterns = []pattern{
	{patternGPT2, scanGPT2, true},
	{patternLlama3, scanLlama3, true},
	{patternQwen2, scanQwen2, true},
	{patternQwen35, scanQwen35, true},
	{patternGPT4o, scanGPT4o, true},
	{patternTekken, scanTekken, true},
	{patternKimi, scanKimi, true},
	{patternDeepSeek, scanDeepSeek, false},
	{patternCJK, scanCJK, false},
	{`\p{N}{1,3}`, scanThreeDigits, false},
	{`\p{N}`, scanOneDigit, false},
}

// A named is a pre-tokenizer under the names that GGUF files give it, with what goes with it.
type named struct {
	names        []string
	splitters    []splitter
	regexes      []string // further patterns, whose matches stand apart, behind the splitters
	nfc          bool     // the family's tokenizer.json normalises; GGUF files don't say so
	ignoreMerges bool
	addBOS       bool // where the file leaves it open
}

// Letters of scripts that have case, as DeepSeek's first models spell them.
const casedLetters = `A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293}\x{295}-\x{2AF}\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1}\x{3A3}-\x{3F5}` +
	`\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5}\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D}\x{1F5F}-\x{1F7D}` +
	`\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107}\x{210A}-\x{2113}\x{2115}` +
	`\x{2119}-\x{211D}\x{2124}\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139}\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787}\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A}\x{10400}-\x{1044F}\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2}\x{118A0}-\x{118DF}\x{1E900}-\x{1E943}`

// namedPretokenizers are those of byte-level GGUF files.
var namedPretokenizers = []named{
	{names: []string{"gpt-2", "phi-2", "mpt", "olmo", "jais", "modern-bert", "gigachat", "trillion", "granite-docling", "exaone4", "mellum", "a.x-4.0", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de"}, splitters: []splitter{scanGPT2}},
	{names: []string{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b", "mellum2"}, splitters: []splitter{scanDigits, scanGPT2}},
	{names: []string{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"}, splitters: []splitter{scanLlama3}, ignoreMerges: true, addBOS: true},
	{names: []string{"dbrx", "smaug-bpe"}, splitters: []splitter{scanLlama3}},
	{names: []string{"chatglm-bpe", "glm4", "glm5"}, splitters: []splitter{scanLlama3}, ignoreMerges: true},
	{names: []string{"qwen2", "deepseek-r1-qwen", "megrez", "kormo"}, splitters: []splitter{scanQwen2}, nfc: true},
	{names: []string{"stablelm2", "hunyuan", "solar-open", "grok-2"}, splitters: []splitter{scanQwen2}},
	{names: []string{"qwen35"}, splitters: []splitter{scanQwen35}, nfc: true},
	{names: []string{"gpt-4o", "llama4", "kanana2"}, splitters: []splitter{scanGPT4o}, ignoreMerges: true},
	{names: []string{"minimax-m2"}, splitters: []splitter{scanGPT4o}},
	{names: []string{"tekken"}, splitters: []splitter{scanTekken}, ignoreMerges: true, addBOS: true},
	{names: []string{"kimi-k2"}, splitters: []splitter{scanKimi}, ignoreMerges: true},
	{names: []string{"deepseek-v3", "hunyuan-dense", "joyai-llm"}, splitters: []splitter{scanThreeDigits, scanCJK, scanDeepSeek}},
	{names: []string{"deepseek-llm"}, regexes: []string{`[\r\n]`, `\s?[` + casedLetters + `]+`, `\s?[!-/:-~！-／：-～‘-‟　-。]+`, `\s+$`, `[一-龥ࠀ-一가-퟿]+`, `\p{N}+`}},
	{names: []string{"deepseek-coder"}, regexes: []string{`[\r\n]`, `\s?\p{L}+`, `\s?\p{P}+`, `[一-龥ࠀ-一가-퟿]+`, `\p{N}`}},
	{names: []string{"seed-coder"}, regexes: []string{contractions + `|` + patternNone + `\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+` + patternSpaces}},
	{names: []string{"bailingmoe", "bailingmoe2", "llada-moe"}, regexes: []string{`'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+`}},
	{names: []string{"superbpe"}, regexes: []string{`\p{N}+`, `(?=(\d{3})+(?!\d))`}},
	{names: []string{"bloom", "poro-chat", "gpt3-finnish"}, regexes: []string{` ?[^(\s|[.,!?…。，、।۔،])]+`}},
}

// pretokenizer returns the named pre-tokenizer and its steps.
func pretokenizer(name string) (n named, pre []preStep, ok bool) {
	i := slices.IndexFunc(namedPretokenizers, func(n named) bool { return slices.Contains(n.names, name) })
	if i < 0 {
		return named{}, nil, false
	}
	n = namedPretokenizers[i]
	pre = steps(n.splitters...)
	for _, src := range n.regexes {
		r, err := compileRegex(src)
		if err != nil {
			return named{}, nil, false // a test compiles them all
		}
		isolated, _ := splitting(r.pieces, "Isolated", false)
		pre = append(pre, preStep{split: isolated})
	}
	return n, pre, true
}
