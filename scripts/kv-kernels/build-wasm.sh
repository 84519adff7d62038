#!/bin/sh
# Builds kv-kernels.wasm, which is committed. Needs clang and wasm-ld (apt-get install clang lld); built with Debian clang 14.0.6.
set -e
cd "$(dirname "$0")"
clang --target=wasm32 -msimd128 -mbulk-memory -std=gnu11 -O3 -ffp-contract=off -ffreestanding -nostdlib -Wall -Wno-psabi \
  -Wl,--no-entry,--import-memory,--initial-memory=65536,--stack-first,-z,stack-size=4096,--strip-all \
  -o kv-kernels.wasm wasm.c
