"""The attention kernel against plain torch, under every layout's mask."""
import unittest

import torch

from kernels import HEAD_DIM, Attention
from packing import FIRST_QUESTION, LINK, REPLACED

HEADS, KV_HEADS = 4, 2


def plain_attention(qkv, codes, positions, cosine, sine):
    """What the kernel should return, and the weights [rows, heads, length, length]."""
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
    return torch.einsum("bhts,bshd->bthd", weights, value).reshape(rows, length, -1), weights


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


class AttentionTest(unittest.TestCase):
    def test_values_and_gradients_equal_those_of_plain_torch(self):
        torch.manual_seed(0)
        angles = torch.arange(256)[:, None] * 10000.0 ** (-torch.arange(0, HEAD_DIM, 2) / HEAD_DIM)
        for length in (200, 64, 7):
            masks = (*codes_and_positions(3, length), angles.cos(), angles.sin())
            mine = torch.randn(3, length, (HEADS + 2 * KV_HEADS) * HEAD_DIM).requires_grad_()
            theirs = mine.detach().clone().requires_grad_()
            ours, plain = Attention.apply(mine, *masks, HEADS, KV_HEADS), plain_attention(theirs, *masks)[0]
            weight = torch.randn_like(plain)
            ours.backward(weight)
            plain.backward(weight)
            torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-3, atol=1e-4)
