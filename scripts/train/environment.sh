# Source this before training: `. scripts/train/environment.sh`. It makes Debian's torch several times faster.

# OpenBLAS picks its kernels for the processor itself; an inherited setting may ask for slower ones.
unset OPENBLAS_L2_SIZE OPENBLAS_CORETYPE
if grep -qs avx512f /proc/cpuinfo; then export OPENBLAS_CORETYPE=SKYLAKEX; fi

# Without this, the thread pools of OpenBLAS and libgomp spin against each other.
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" OMP_WAIT_POLICY=PASSIVE

# Keep freed memory: every step allocates the same tensors again.
export MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=100000000000 MALLOC_TOP_PAD_=268435456
export GLIBC_TUNABLES=glibc.malloc.hugetlb=1
