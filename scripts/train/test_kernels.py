"""The kernels against plain torch: values and gradients, under every layout's mask."""
import unittest

import torch
from torch.nn.functional import silu

from kernels import HEAD_DIM, Attention, RMSNorm, SwiGLU
from packing import FIRST_QUESTION, LINK, REPLACED

HEADS, KV_HEADS = 4, 2


def plain_attention(qkv, codes, positions, cosine, sine):
    rows, length, _ = qkv.shape
    widths = [HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM]
    query, key, value = (part.view(rows, length, -1, HEAD_DIM) for part in qkv.split(widths, -1))
    c, s = cosine[positions.long()][:, :, None], sine[positions.long()][:, :, None]

    def rotated(x):
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2)

    query, key = rotated(query), rotated(key).repeat_interleave(HEADS // KV_HEADS, 2)
    value = value.repeat_interleave(HEADS // KV_HEADS, 2)
    scores = torch.einsum("bthd,bshd->bhts", query, key) * HEAD_DIM**-0.5
    weights = scores.masked_fill(~visible(codes)[:, None], float("-inf")).softmax(-1)
    return torch.einsum("bhts,bshd->bthd", weights, value).reshape(rows, length, -1)


def visible(codes):
    """[rows, length, length]: does the query (second axis) see the key (third)?"""
    length = codes.shape[1]
    replaced, codes = (codes & REPLACED) != 0, codes & ~REPLACED
    document, segment = codes >> 8, codes & 255
    earlier = torch.arange(length)[:, None] >= torch.arange(length)[None]
    same_document = document[:, :, None] == document[:, None]
    same_segment = segment[:, :, None] == segment[:, None]
    header = (segment == 0)[:, None]
    memory_read = (segment >= LINK)[:, :, None] & ((segment <= LINK) & ~replaced)[:, None]
    return earlier & same_document & (same_segment | header | memory_read)


def codes_and_positions(rows, length):
    """Documents of a header, three memories, of which two are linked, and two questions, each of a few tokens."""
    generator = torch.Generator().manual_seed(5)
    codes, positions = torch.zeros(rows, length, dtype=torch.int32), torch.zeros(rows, length, dtype=torch.int32)
    for row in range(rows):
        at, document = 0, 0
        while at < length:
            document += 1
            for segment in (0, 1, 2 | REPLACED, LINK, 2, 3 | REPLACED, LINK, 3, FIRST_QUESTION, FIRST_QUESTION + 1):
                size = min(int(torch.randint(1, 12, (), generator=generator)), length - at)
                codes[row, at : at + size] = document << 8 | segment
                positions[row, at : at + size] = torch.arange(size) + 3 * (segment & 255) % 40
                at += size
    return codes, positions


class KernelTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def compare(self, ours, plain, *inputs):
        """Values and gradients of two functions of `inputs` agree to float32 precision."""
        mine = [x.clone().requires_grad_() for x in inputs]
        theirs = [x.clone().requires_grad_() for x in inputs]
        a, b = ours(*mine), plain(*theirs)
        weight = torch.randn_like(a)
        a.backward(weight)
        b.backward(weight)
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
        for left, right in zip(mine, theirs):
            torch.testing.assert_close(left.grad, right.grad, rtol=1e-3, atol=1e-4)

    def test_attention_under_the_segment_mask(self):
        for length in (200, 64, 7):
            codes, positions = codes_and_positions(3, length)
            angles = torch.arange(256)[:, None] * 10000.0 ** (-torch.arange(0, HEAD_DIM, 2) / HEAD_DIM)
            cosine, sine = angles.cos(), angles.sin()
            qkv = torch.randn(3, length, (HEADS + 2 * KV_HEADS) * HEAD_DIM)
            self.compare(
                lambda x: Attention.apply(x, codes, positions, cosine, sine, HEADS, KV_HEADS),
                lambda x: plain_attention(x, codes, positions, cosine, sine),
                qkv,
            )

    def test_rms_norm(self):
        def plain(x, gain):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * gain

        self.compare(RMSNorm.apply, plain, torch.randn(37, 96), torch.randn(96))

    def test_swiglu(self):
        def plain(x):
            gate, up = x.chunk(2, -1)
            return silu(gate) * up

        self.compare(SwiGLU.apply, plain, torch.randn(50, 96) * 4)
        extreme = torch.tensor([[200.0] * 16 + [1.0] * 16, [-200.0] * 16 + [1.0] * 16])
        torch.testing.assert_close(SwiGLU.apply(extreme), plain(extreme))


if __name__ == "__main__":
    unittest.main()
