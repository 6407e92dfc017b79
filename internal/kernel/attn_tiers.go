// SPDX-License-Identifier: Apache-2.0

//go:build amd64 || arm64

package kernel

import "unsafe"

// kvKernels are the kernels of a tier for one type of block. Those for up to wide rows do tiles of 32 columns, the others of 16.
type kvKernels struct {
	wide         int
	keys, values kvSizes
}

// columns is how many columns the kernel for so many rows does.
func (k *kvKernels) columns(rows int) int {
	if rows <= k.wide {
		return KVTileCols
	}
	return KVTileCols / 2
}

// kvSizes has at n the kernel for the most rows up to n that there is one for.
type kvSizes [KVTileRows + 1]struct {
	rows int
	run  kvFunc
}

func bySize(kernels map[int]kvFunc) (s kvSizes) {
	for n := 1; n <= KVTileRows; n++ {
		s[n] = s[n-1]
		if f := kernels[n]; f != nil {
			s[n].rows, s[n].run = n, f
		}
	}
	return s
}

func mulKeys(p *KVProduct) {
	if active == generic {
		mulKeysGo(p)
		return
	}
	kernels, size, a := &kvTiers[active][p.B.Type], p.B.row/KVBlock, p.begin()
	a.depth = p.B.rows(p.B.dim)
	if p.B.Type == KVQ8 {
		p.clear(len(p.Table) * KVBlock) // its kernels add group by group
	}
	for r := 0; r < p.Rows; {
		kernel := &kernels.keys[p.Rows-r]
		for c := 0; c < KVBlock; c += kernels.columns(kernel.rows) {
			a.offset, a.scales = uintptr(c*size), uintptr(c*(4-size))
			p.row(r, c, 0)
			if p.B.Type == KVQ8 {
				groups := groupsOf(p.B.dim)
				p.fixedRows(&p.fixed[r*groups], groups)
			}
			a.at, a.count, a.left, a.skip = 0, len(p.Table), 0, 0
			kernel.run(a)
		}
		r += kernel.rows
	}
}

// fewRows is up to how many rows values are read block by block, in the order of memory: their time is that of reading. More
// rows take all blocks for some columns, which keeps their sums in registers. Bytes are always read block by block.
const fewRows = 4

func mulValues(p *KVProduct, positions int, fresh bool) {
	if active == generic {
		mulValuesGo(p, positions, fresh)
		return
	}
	p.begin()
	if p.Rows > fewRows {
		p.valuesOf(0, positions, fresh)
		return
	}
	for first := 0; first < positions; first += KVBlock {
		p.valuesOf(first, min(first+KVBlock, positions), fresh && first == 0)
	}
}

// valuesOf does the positions [first, end), of which the first begins a block.
func (p *KVProduct) valuesOf(first, end int, fresh bool) {
	kernels, size, a := &kvTiers[active][p.B.Type], p.B.Type.size(), &p.args
	a.fresh = 0
	if fresh {
		a.fresh = 1
	}
	for group := 0; group < p.B.dim; group += KVTileCols {
		for r := 0; r < p.Rows; {
			kernel := &kernels.values[p.Rows-r]
			for c := 0; c < KVTileCols; c += kernels.columns(kernel.rows) {
				a.offset = uintptr(group/KVTileCols*p.B.group + c*size)
				p.row(r, group+c, first)
				a.at, a.count = first/KVBlock, end-first
				kernel.run(a)
			}
			r += kernel.rows
		}
	}
}

func mulBytes(p *KVProduct, block int) {
	if active == generic {
		mulBytesGo(p, block)
		return
	}
	kernels, a := &kvTiers[active][p.B.Type], p.begin()
	for r := 0; r < p.Rows; {
		kernel := &kernels.values[p.Rows-r]
		for c := 0; c < KVTileCols; c += kernels.columns(kernel.rows) {
			a.offset = uintptr(c * p.B.row / KVBlock)
			a.dst = &p.Dst[r*p.DstStride+c]
			p.fixedRows(&p.fixed[r], 1)
			a.at, a.count = block, p.B.dim/KVTileCols
			kernel.run(a)
		}
		r += kernel.rows
	}
}

// fixedRows sets the arguments to rows of groups of numbers, so many in a row, from the first on.
func (p *KVProduct) fixedRows(first *fixedGroup, groups int) {
	p.args.a, p.args.lda = unsafe.Pointer(first), uintptr(groups)*fixedBytes
}

// begin sets the arguments that stay for the whole product.
func (p *KVProduct) begin() *kvArgs {
	a := &p.args
	a.order, a.ahead = &p.order[0], len(p.Table)
	a.ldd = uintptr(p.DstStride) * 4
	return a
}

// row sets the arguments for the rows from r on: the columns of Dst from c on, and those of A from first on.
func (p *KVProduct) row(r, c, first int) {
	p.args.dst = &p.Dst[r*p.DstStride+c]
	p.args.a, p.args.lda = unsafe.Pointer(&p.A[r*p.AStride+first]), uintptr(p.AStride)*4
}
