"""Builds `kernels.c` on demand and offers its functions to torch, with gradients."""
import ctypes
import os
import subprocess
from pathlib import Path

import torch

SOURCE = Path(__file__).with_name("kernels.c")
BUILD = SOURCE.parents[2] / "build" / "train"
FLAGS = "-O3 -march=native -mprefer-vector-width=512 -ffast-math -fno-finite-math-only -fopenmp -shared -fPIC".split()
HEAD_DIM = 32
RMS_EPSILON = 1e-5


def _library() -> ctypes.CDLL:
    built = BUILD / "kernels.so"
    if not built.exists() or built.stat().st_mtime < SOURCE.stat().st_mtime:
        BUILD.mkdir(parents=True, exist_ok=True)
        fresh = built.with_suffix(f".{os.getpid()}")
        subprocess.run(["gcc", *FLAGS, "-o", fresh, SOURCE, "-lm"], check=True)
        fresh.replace(built)
    return ctypes.CDLL(str(built))


_kernels = _library()
_float, _int, _long = ctypes.c_float, ctypes.c_int, ctypes.c_long


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
        ctx.shape = [_int(n) for n in (rows, length, heads, kv_heads)]
        _kernels.attention_forward(*map(_address, (qkv, codes, positions, cosine, sine, out, log_sum)), *ctx.shape)
        ctx.save_for_backward(qkv, codes, positions, cosine, sine, out, log_sum)
        return out

    @staticmethod
    def backward(ctx, d_out):
        d_qkv = torch.empty_like(ctx.saved_tensors[0])
        _kernels.attention_backward(*map(_address, (*ctx.saved_tensors, d_out.contiguous(), d_qkv)), *ctx.shape)
        return d_qkv, None, None, None, None, None, None


class RMSNorm(torch.autograd.Function):
    """x [..., width], gain [width] -> [..., width]."""

    @staticmethod
    def forward(ctx, x, gain):
        x = x.contiguous()
        width = x.shape[-1]
        y, inverse = torch.empty_like(x), torch.empty(x.numel() // width)
        ctx.shape = _long(inverse.numel()), _int(width)
        _kernels.rms_norm_forward(*map(_address, (x, gain, y, inverse)), *ctx.shape, _float(RMS_EPSILON))
        ctx.save_for_backward(x, gain, inverse)
        return y

    @staticmethod
    def backward(ctx, d_y):
        x, gain, inverse = ctx.saved_tensors
        d_x, d_gain = torch.empty_like(x), torch.zeros_like(gain)
        _kernels.rms_norm_backward(*map(_address, (x, gain, inverse, d_y.contiguous(), d_x, d_gain)), *ctx.shape)
        return d_x, d_gain


class SwiGLU(torch.autograd.Function):
    """x [..., 2 * width], the gate before the value -> [..., width]."""

    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        width = x.shape[-1] // 2
        y = torch.empty(*x.shape[:-1], width)
        ctx.shape = _long(y.numel() // width), _int(width)
        _kernels.swiglu_forward(_address(x), _address(y), *ctx.shape)
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, d_y):
        (x,) = ctx.saved_tensors
        d_x = torch.empty_like(x)
        _kernels.swiglu_backward(_address(x), _address(d_y.contiguous()), _address(d_x), *ctx.shape)
        return d_x


def adam_step(weights, gradient, mean, square, step, rate, beta1, beta2, gradient_scale):
    """One Adam step in place (no weight decay); `step` counts from 1."""
    _kernels.adam_step(
        *map(_address, (weights, gradient, mean, square)),
        _long(weights.numel()),
        *map(_float, (rate, beta1, beta2, 1e-8, 1 - beta1**step, 1 - beta2**step, gradient_scale)),
    )
