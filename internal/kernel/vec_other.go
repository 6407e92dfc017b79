// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 && !arm64

package kernel

func exp(x float32) float32 { return exp32(x) }

func (p *softmax) run() { p.runGo() }

func merge(all, one []float32, rows, width int) { mergeGo(all, one, rows, width) }

func gateSiLU(gate, up []float32) { gateSiLUGo(gate, up) }

func gateGELU(gate, up []float32) { gateGELUGo(gate, up) }

func softCap(x []float32, scale, twice, limit float32) { softCapGo(x, scale, twice, limit) }

func sumSquares(x []float32, sums *[16]float32) { sumSquaresGo(x, sums) }

func scaleMul(dst, x, w []float32, c float32) { scaleMulGo(dst, x, w, c) }

func scale(dst, x []float32, c float32) { scaleGo(dst, x, c) }

func add(dst, x []float32) { addGo(dst, x) }

func addScaled(dst, x []float32, c float32) { addScaledGo(dst, x, c) }

func rotateHalves(a, b, cos, sin []float32) { rotateHalvesGo(a, b, cos, sin) }

func rotatePairs(x, cos, sin []float32) { rotatePairsGo(x, cos, sin) }

func toHalf(dst []uint16, x []float32) { toHalfGo(dst, x) }

func notAbove([]float32, float32) int { return 0 }

// vectorLen is how many of n numbers vector kernels do.
func vectorLen(int) int { return 0 }
