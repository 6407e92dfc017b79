// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// neonTiers are the arm64 tiers as names of kernels spell them.
var neonTiers = []string{"NEON", "DotProd", "I8MM"}

// neonFiles are the generated files of arm64.
func neonFiles() map[string]string {
	files := map[string]string{
		"mul_kernels_arm64.go":    neonMulStubs(),
		"dot_arm64.s":             neonDots(),
		"dot_kernels_arm64.go":    neonDotStubs(),
		"attn_arm64.s":            neonAttention(),
		"attn_kernels_arm64.go":   neonAttentionStubs(),
		"vec_arm64.s":             neonVec(),
		"mul_activations_arm64.s": neonQuantize(),
		"peak_arm64.s":            neonPeak(),
	}
	for _, tier := range neonTiers {
		files["mul_"+strings.ToLower(tier)+"_arm64.s"] = neonMul(tier)
	}
	return files
}

// allMulNeon lists the panel products, without a printer.
func allMulNeon() (all []mulNeon) {
	for _, tier := range neonTiers {
		for _, f := range formats {
			for _, rows := range neonRows[tier] {
				all = append(all, mulNeon{format: f, tier: tier, rows: rows})
			}
		}
	}
	return all
}

// neonMulStubs declares the panel products of arm64 and enters them into their table.
func neonMulStubs() string {
	var p printer
	p.WriteString(generated + "package kernel\n\n")
	var table strings.Builder
	for _, k := range allMulNeon() {
		fmt.Fprintf(&p, "//go:noescape\nfunc %s(%s)\n\n", k.name(), mulParameters)
		fmt.Fprintf(&table, "\tmulTiers[%s][%s][%d] = %s\n", strings.ToLower(k.tier), k.format.name, log2(k.rows), k.name())
		if k.tier == "DotProd" && k.rows == 1 {
			fmt.Fprintf(&table, "\tmulTiers[i8mm][%s][0] = %s\n", k.format.name, k.name())
		}
	}
	fmt.Fprintf(&p, "func addMulKernels() {\n%s}\n", table.String())
	return p.String()
}
