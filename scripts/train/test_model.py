"""The model against a Llama in plain torch, its structured start, and its file format."""
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch.nn.functional import silu

from export_gguf import tensors, write_gguf
from import_gguf import read_model
from kernels import HEAD_DIM
from model import RMS_EPSILON, ModelShape, RecallModel
from test_kernels import plain_attention
from test_packing import TOKENIZER

SHAPE = ModelShape(vocabulary=64, layers=2, context=64)


def plain_logits(model, tokens):
    """The last token's logits, and layer 0's attention weights [heads, length, length]."""
    weights, first = model.tensors, None
    positions = torch.arange(len(tokens))[None]
    angles = positions[0, :, None] * 10000.0 ** (-torch.arange(0, HEAD_DIM, 2) / HEAD_DIM)

    def norm(x, gain):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + RMS_EPSILON) * gain

    x = weights["embedding"][tokens]
    for layer in range(model.shape.layers):
        qkv = norm(x, weights[f"{layer}.attention_norm"]) @ weights[f"{layer}.qkv"].t()
        mixed, attention = plain_attention(qkv[None], torch.zeros_like(positions), positions, angles.cos(), angles.sin())
        first = attention[0] if first is None else first
        x = x + mixed[0] @ weights[f"{layer}.attention_out"].t()
        gate, up = (norm(x, weights[f"{layer}.mlp_norm"]) @ weights[f"{layer}.gate_up"].t()).chunk(2, -1)
        x = x + (silu(gate) * up) @ weights[f"{layer}.down"].t()
    return (norm(x, weights["output_norm"]) @ weights["embedding"].t())[-1], first


class ModelTest(unittest.TestCase):
    def setUp(self):
        self.model = RecallModel(SHAPE, seed=3)
        self.tokens = torch.randint(0, SHAPE.vocabulary, (40,), generator=torch.Generator().manual_seed(1))

    def test_logits_equal_those_of_a_plain_llama(self):
        row = self.tokens[None].int()
        places = torch.arange(40, dtype=torch.int32)[None]
        with torch.no_grad():
            ours = self.model.logits(row, torch.zeros_like(row), places, torch.tensor([39]))[0]
            plain, _ = plain_logits(self.model, self.tokens)
        torch.testing.assert_close(ours, plain, rtol=1e-3, atol=1e-4)

    def test_two_heads_start_by_looking_one_and_two_tokens_back(self):
        with torch.no_grad():
            _, attention = plain_logits(self.model, self.tokens)
        for head, offset in ((0, 1), (1, 2)):
            self.assertEqual(attention[head, 8:].argmax(-1).tolist(), [at - offset for at in range(8, 40)])

    def test_state_round_trip(self):
        again = RecallModel.from_state(self.model.state())
        self.assertTrue(torch.equal(again.weights, self.model.weights))


class ExportTest(unittest.TestCase):
    def test_every_weight_is_exported_once_under_llama_cpp_s_names(self):
        exported = dict(tensors(RecallModel(SHAPE)))
        self.assertEqual(sum(values.size for values in exported.values()), RecallModel(SHAPE).weights.numel())
        self.assertEqual(exported["blk.1.attn_k.weight"].shape, (SHAPE.kv_heads * HEAD_DIM, SHAPE.width))
        self.assertEqual(exported["blk.0.ffn_gate.weight"].shape, (SHAPE.hidden, SHAPE.width))

    def test_what_was_exported_is_read_back(self):
        model = RecallModel(ModelShape(len(TOKENIZER.tokens), width=64, layers=2, heads=2, kv_heads=1, hidden=96), seed=3)
        with TemporaryDirectory() as folder:
            first, second = (Path(folder) / f"{place}.gguf" for place in ("first", "second"))
            write_gguf(first, "toy", model, TOKENIZER)
            again = read_model(first)
            self.assertEqual(again.shape, model.shape)
            write_gguf(second, "toy", again, TOKENIZER)
            self.assertEqual(first.read_bytes(), second.read_bytes())
