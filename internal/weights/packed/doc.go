// SPDX-License-Identifier: Apache-2.0

// Package packed reads checkpoints whose matrices are stored in fewer bits than the types of their tensors say, as the
// quantization_config of a config.json tells.
//
//   - FP8: a matrix X.weight of type F8_E4M3 comes with X.weight_scale_inv or X.weight_scale, one scale for the whole matrix,
//     for each row, or for each block of it, which a value is multiplied with (in spite of "inv"). Hugging Face calls it "fp8",
//     compressed-tensors "float-quantized". It becomes BF16, rounded to nearest, which is what the reference code makes where
//     it does not compute in 8 bits.
//   - MXFP4: 4-bit floats with a power of two for each 32 of them (OCP Microscaling Formats 1.0). The bytes are U8 tensors:
//     X.weight_packed [out, in/2] with X.weight_scale [out, in/32] in compressed-tensors' "mxfp4-pack-quantized", X_blocks
//     [..., out, in/32, 16] with X_scales [..., out, in/32] in Hugging Face's "mxfp4". It becomes MXFP4 as GGUF files have
//     it, which only orders the same bits in another way.
//
// Always true of an open Source: it has no packed matrix and no scales; in their place are matrices that the rest of the
// program knows. They are made when they are asked for and kept until they are released. Scales of activations are left out:
// activations are not rounded to 8 or 4 bits.
package packed
