// SPDX-License-Identifier: Apache-2.0

//go:build amd64 || arm64

package kernel

import "unsafe"

// kvKernels are the kernels of a tier for one type of block, for tiles of some columns.
type kvKernels struct {
	columns      int
	keys, values kvSizes
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
	kernels, size := &kvTiers[active][p.B.Type], p.B.Type.size()
	p.args.depth = p.B.dim
	for c := 0; c < KVBlock; c += kernels.columns {
		// A position's scales lie under it.
		p.columns(c, c*size, p.B.Scales+4*c)
		for r := 0; r < p.Rows; {
			kernel := &kernels.keys[p.Rows-r]
			p.row(r, c)
			p.args.count = len(p.Table)
			kernel.run(&p.args)
			r += kernel.rows
		}
	}
}

func mulValues(p *KVProduct, positions int, fresh bool) {
	if active == generic {
		mulValuesGo(p, positions, fresh)
		return
	}
	kernels, size := &kvTiers[active][p.B.Type], p.B.Type.size()
	p.args.ldb, p.args.fresh = uintptr(p.B.RowBytes), 0
	if fresh {
		p.args.fresh = 1
	}
	for c := 0; c < p.B.dim; c += kernels.columns {
		// 32 columns share their scales; those of the next 32 come after 32 positions.
		p.columns(c, KVBlock*c*size, p.B.Scales+4*(c&^(BlockCols-1)))
		for r := 0; r < p.Rows; {
			kernel := &kernels.values[p.Rows-r]
			p.row(r, c)
			p.args.count = positions
			kernel.run(&p.args)
			r += kernel.rows
		}
	}
}

// columns sets the arguments for the columns from c on. While they are computed, as much is prefetched from an offset on.
func (p *KVProduct) columns(c, ahead, scales int) {
	a, offset := &p.args, c*p.B.Type.size()
	a.base, a.stride = unsafe.Pointer(&p.B.Data[offset]), uintptr(p.B.Stride)
	a.scales = uintptr(scales - offset)
	a.table = unsafe.SliceData(p.Table)
	a.next, a.nextStride, a.nextTable = a.base, a.stride, a.table
	if len(p.NextTable) >= len(p.Table) && ahead < len(p.Next.Data) {
		a.next, a.nextStride, a.nextTable = unsafe.Pointer(&p.Next.Data[ahead]), uintptr(p.Next.Stride), unsafe.SliceData(p.NextTable)
	}
}

// row sets the arguments for the rows from r on.
func (p *KVProduct) row(r, c int) {
	a := &p.args
	a.dst, a.ldd = &p.Dst[r*p.DstStride+c], uintptr(p.DstStride)*4
	a.a, a.lda = &p.A[r*p.AStride], uintptr(p.AStride)*4
	a.at = 0
}
