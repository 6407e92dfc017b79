// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
	"strings"
)

// The kernels of arm64 are written here in Arm's notation: fmla v0.4s, v1.4s, v2.s[3] adds v1 times lane 3 of v2 to v0.
// v prints such an instruction in Go's, or, if Go's assembler does not know it, as a word with the instruction behind it.

// A word says how an instruction is encoded that Go's assembler lacks: the bits that are always the same, and what its
// operands are, in order: registers d, n and m, i a register m with the index of a 32-bit lane, h one with that of a 16-bit lane
// (V0 to V15 only), r a shift to the right (or binary places) in 32-bit lanes, = a number that goes without saying.
type word struct {
	bits     uint32
	operands string
}

// words are the instructions that Go's assembler lacks, by mnemonic and arrangements.
var words = map[string]word{
	"addp d,2d":         {0x5EF1B800, "dn"},
	"bic 16b,16b,16b":   {0x4E601C00, "dnm"},
	"fabs 4s,4s":        {0x4EA0F800, "dn"},
	"fadd 2d,2d,2d":     {0x4E60D400, "dnm"},
	"fadd 4s,4s,4s":     {0x4E20D400, "dnm"},
	"faddp s,2s":        {0x7E30D800, "dn"},
	"fcmeq 4s,4s,4s":    {0x4E20E400, "dnm"},
	"fcmgt 4s,4s,4s":    {0x6EA0E400, "dnm"},
	"fcvtl 2d,2s":       {0x0E617800, "dn"},
	"fcvtl 4s,4h":       {0x0E217800, "dn"},
	"fcvtl2 2d,4s":      {0x4E617800, "dn"},
	"fcvtl2 4s,8h":      {0x4E217800, "dn"},
	"fcvtn 4h,4s":       {0x0E216800, "dn"},
	"fcvtn2 8h,4s":      {0x4E216800, "dn"},
	"fcvtns 4s,4s":      {0x4E21A800, "dn"},
	"fcvtzs 4s,4s":      {0x4EA1B800, "dn"},
	"fcvtzu 2d,2d":      {0x6EE1B800, "dn"},
	"fdiv 4s,4s,4s":     {0x6E20FC00, "dnm"},
	"fmax 4s,4s,4s":     {0x4E20F400, "dnm"},
	"fmaxnm 4s,4s,4s":   {0x4E20C400, "dnm"},
	"fmaxnmv s,4s":      {0x6E30C800, "dn"},
	"fmaxv s,4s":        {0x6E30F800, "dn"},
	"fmin 4s,4s,4s":     {0x4EA0F400, "dnm"},
	"fmla 4s,4s,s[]":    {0x4F801000, "dni"},
	"fmls 4s,4s,s[]":    {0x4F805000, "dni"},
	"fmul 2d,2d,2d":     {0x6E60DC00, "dnm"},
	"fmul 4s,4s,4s":     {0x6E20DC00, "dnm"},
	"fmul 4s,4s,s[]":    {0x4F809000, "dni"},
	"fneg 4s,4s":        {0x6EA0F800, "dn"},
	"frintn 4s,4s":      {0x4E218800, "dn"},
	"fsub 4s,4s,4s":     {0x4EA0D400, "dnm"},
	"sadalp 4s,8h":      {0x4E606800, "dn"},
	"saddlp 4s,8h":      {0x4E602800, "dn"},
	"saddlp 8h,16b":     {0x4E202800, "dn"},
	"saddlv s,8h":       {0x4E703800, "dn"},
	"scvtf 4s,4s":       {0x4E21D800, "dn"},
	"sdot 4s,16b,16b":   {0x4E809400, "dnm"},
	"sdot 4s,16b,4b[]":  {0x4F80E000, "dni"},
	"shll 4s,4h,#":      {0x2E613800, "dn="},
	"shll2 4s,8h,#":     {0x6E613800, "dn="},
	"smlal 4s,4h,h[]":   {0x0F402000, "dnh"},
	"smlal 8h,8b,8b":    {0x0E208000, "dnm"},
	"smlal2 4s,8h,h[]":  {0x4F402000, "dnh"},
	"smlal2 8h,16b,16b": {0x4E208000, "dnm"},
	"smmla 4s,16b,16b":  {0x4E80A400, "dnm"},
	"smull 8h,8b,8b":    {0x0E20C000, "dnm"},
	"smull2 8h,16b,16b": {0x4E20C000, "dnm"},
	"sqrdmulh 8h,8h,8h": {0x6E60B400, "dnm"},
	"sshr 4s,4s,#":      {0x4F000400, "dnr"},
	"sxtl 4s,4h":        {0x0F10A400, "dn"},
	"sxtl 8h,8b":        {0x0F08A400, "dn"},
	"sxtl2 8h,16b":      {0x4F08A400, "dn"},
	"sxtl2 4s,8h":       {0x4F10A400, "dn"},
	"ucvtf 4s,4s":       {0x6E21D800, "dn"},
	"ucvtf 4s,4s,#":     {0x6F00E400, "dnr"},
}

// An operand of an instruction: a vector register with an arrangement and perhaps an index, a scalar register, or a number.
type operand struct {
	kind   string // 4s, s[], s, or # for a number
	number int    // of the register, or the number
	index  int
}

// v prints a vector instruction, given in Arm's notation.
func (p *printer) v(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	mnemonic, rest, _ := strings.Cut(text, " ")
	var operands []operand
	var kinds []string
	for _, part := range strings.Split(rest, ", ") {
		o := parseOperand(part)
		operands, kinds = append(operands, o), append(kinds, o.kind)
	}
	if w, ok := words[mnemonic+" "+strings.Join(kinds, ",")]; ok {
		p.op("WORD $%#08x // %s", w.encode(operands), text)
		return
	}
	for i, o := range operands {
		kinds[len(kinds)-1-i] = o.inGo(mnemonic == "tbl" && i == 1)
	}
	p.op("V%s %s", strings.ToUpper(mnemonic), strings.Join(kinds, ", "))
}

// four prints an instruction for four registers in a row each: {8} stands for v8 the first time, v9 the second, and so on.
func (p *printer) four(text string) {
	for i := range 4 {
		p.v("%s", expand(text, i))
	}
}

// expand puts registers in place of the numbers in braces, counted on by i.
func expand(text string, i int) string {
	before, rest, found := strings.Cut(text, "{")
	if !found {
		return before
	}
	number, rest, _ := strings.Cut(rest, "}")
	return fmt.Sprintf("%sv%d%s", before, atoi(number)+i, expand(rest, i))
}

func parseOperand(text string) operand {
	if number, ok := strings.CutPrefix(text, "#"); ok {
		return operand{kind: "#", number: atoi(number)}
	}
	register, arrangement, vector := strings.Cut(text, ".")
	if !vector { // a scalar: s0, d0
		return operand{kind: register[:1], number: atoi(register[1:])}
	}
	o := operand{kind: arrangement, number: atoi(register[1:])}
	if lane, index, ok := strings.Cut(arrangement, "["); ok {
		o.kind, o.index = lane+"[]", atoi(strings.TrimSuffix(index, "]"))
	}
	return o
}

// inGo writes an operand in Go's notation: v1.4s is V1.S4 there, v1.s[2] V1.S[2].
func (o operand) inGo(list bool) string {
	lane, isLane := strings.CutSuffix(o.kind, "[]")
	switch {
	case o.kind == "#":
		return fmt.Sprintf("$%d", o.number)
	case isLane:
		return fmt.Sprintf("V%d.%s[%d]", o.number, strings.ToUpper(lane), o.index)
	case len(o.kind) == 1:
		return fmt.Sprintf("V%d", o.number)
	}
	last := len(o.kind) - 1
	text := fmt.Sprintf("V%d.%s%s", o.number, strings.ToUpper(o.kind[last:]), o.kind[:last])
	if list {
		return "[" + text + "]"
	}
	return text
}

// encode puts operands into their places.
func (w word) encode(operands []operand) uint32 {
	bits := w.bits
	for i, o := range operands {
		n := uint32(o.number)
		switch w.operands[i] {
		case 'd':
			bits |= n
		case 'n':
			bits |= n << 5
		case 'm':
			bits |= n << 16
		case 'i':
			index := uint32(o.index)
			bits |= n<<16 | index&1<<21 | index>>1<<11
		case 'h':
			index := uint32(o.index)
			bits |= n<<16 | index&3<<20 | index>>2<<11
		case 'r':
			bits |= (64 - n) << 16
		}
	}
	return bits
}

func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("kernelgen: not a number: " + text)
	}
	return n
}

// begin opens a function of arm64 with the given parameters and loads them: those that are numbers or pointers into R0, R1
// and so on, floats into the first lanes of V31, V30 and so on.
func (p *printer) begin(name, parameters, result string) {
	var loads []string
	at, general, float := 0, 0, 31
	for _, parameter := range strings.Split(parameters, ", ") {
		name, _, _ := strings.Cut(parameter, " ")
		if typeOf(parameters, name) == "float32" {
			loads = append(loads, fmt.Sprintf("FMOVS %s+%d(FP), F%d", name, at, float))
			at, float = at+4, float-1
			continue
		}
		at = (at + 7) &^ 7
		loads = append(loads, fmt.Sprintf("MOVD %s+%d(FP), R%d", name, at, general))
		at, general = at+8, general+1
	}
	size := at
	if result != "" {
		size = (at+7)&^7 + map[string]int{"float32": 4, "int": 8, "uint64": 8}[result]
		result = " " + result
	}
	fmt.Fprintf(p, "\n// func %s(%s)%s\n", name, parameters, result)
	fmt.Fprintf(p, "TEXT ·%s(SB), NOSPLIT, $0-%d\n", name, size)
	for _, load := range loads {
		p.op("%s", load)
	}
}

// typeOf is the type of a parameter: what follows its name or that of a later one without a type between.
func typeOf(parameters, name string) string {
	found := false
	for _, parameter := range strings.Split(parameters, ", ") {
		this, typ, typed := strings.Cut(parameter, " ")
		found = found || this == name
		if found && typed {
			return typ
		}
	}
	panic("kernelgen: no type for " + name)
}
