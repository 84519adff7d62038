#!/usr/bin/env bash
# Runs a program of this folder with Debian's torch, made fast: `scripts/train/run.sh train.py base`.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! /usr/bin/python3 -c 'import torch' 2>/dev/null; then
  echo "torch is missing: apt-get install --no-install-recommends gcc python3-torch python3-numpy libopenblas0-pthread" >&2
  exit 2
fi

# OpenBLAS picks its kernels for the processor itself; an inherited setting may ask for slower ones.
unset OPENBLAS_L2_SIZE OPENBLAS_CORETYPE
if grep -qs avx512f /proc/cpuinfo; then export OPENBLAS_CORETYPE=SKYLAKEX; fi

# Without this, the thread pools of OpenBLAS and libgomp spin against each other.
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" OMP_WAIT_POLICY=PASSIVE

# Keep freed memory: every step allocates the same tensors again.
export MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=100000000000 MALLOC_TOP_PAD_=268435456
export GLIBC_TUNABLES=glibc.malloc.hugetlb=1

exec /usr/bin/python3 "scripts/train/$1" "${@:2}"
