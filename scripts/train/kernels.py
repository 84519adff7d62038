"""Builds `kernels.c` on demand and offers its attention to torch, with the gradient."""
import ctypes
import os
import subprocess
from pathlib import Path

import torch

SOURCE = Path(__file__).with_name("kernels.c")
BUILD = SOURCE.parents[2] / "build" / "train"
FLAGS = "-O3 -march=native -mprefer-vector-width=512 -ffast-math -fno-finite-math-only -fopenmp -shared -fPIC".split()
HEAD_DIM = 32


def _library() -> ctypes.CDLL:
    built = BUILD / "kernels.so"
    if not built.exists() or built.stat().st_mtime < SOURCE.stat().st_mtime:
        BUILD.mkdir(parents=True, exist_ok=True)
        fresh = built.with_suffix(f".{os.getpid()}")
        subprocess.run(["gcc", *FLAGS, "-o", fresh, SOURCE, "-lm"], check=True)
        fresh.replace(built)
    return ctypes.CDLL(str(built))


_kernels = _library()

def _address(tensor: torch.Tensor) -> ctypes.c_void_p:
    assert tensor.is_contiguous() and tensor.dtype in (torch.float32, torch.int32)
    return ctypes.c_void_p(tensor.data_ptr())


class Attention(torch.autograd.Function):
    """Grouped-query attention with rotary positions under the segment mask of `packing.py`.

    qkv [rows, length, (heads + 2 * kv_heads) * 32], codes and positions [rows, length] int32, cosine and sine
    [positions, 16] -> [rows, length, heads * 32].
    """

    @staticmethod
    def forward(ctx, qkv, codes, positions, cosine, sine, heads, kv_heads):
        rows, length, _ = qkv.shape
        qkv = qkv.contiguous()
        out, log_sum = torch.empty(rows, length, heads * HEAD_DIM), torch.empty(rows, heads, length)
        ctx.shape = [ctypes.c_int(n) for n in (rows, length, heads, kv_heads)]
        _kernels.attention_forward(*map(_address, (qkv, codes, positions, cosine, sine, out, log_sum)), *ctx.shape)
        ctx.save_for_backward(qkv, codes, positions, cosine, sine, out, log_sum)
        return out

    @staticmethod
    def backward(ctx, d_out):
        d_qkv = torch.empty_like(ctx.saved_tensors[0])
        _kernels.attention_backward(*map(_address, (*ctx.saved_tensors, d_out.contiguous(), d_qkv)), *ctx.shape)
        return d_qkv, None, None, None, None, None, None
