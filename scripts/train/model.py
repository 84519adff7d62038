"""The language model: a Llama of 1.8 M parameters that llama.cpp runs unchanged.

Every tensor is a view into one flat array, so that optimiser, checkpoint and gradient norm need no loops.
"""
import math
from dataclasses import asdict, dataclass
from typing import Dict, Iterator, Tuple

import torch
from torch.nn.functional import embedding, linear, silu

from kernels import HEAD_DIM, Attention

RMS_EPSILON = 1e-5

Shape = Tuple[int, ...]


def rms_norm(x: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
    """x [..., width], gain [width] -> [..., width]."""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + RMS_EPSILON) * gain


@dataclass(frozen=True)
class ModelShape:
    """The sizes of a Llama; heads have 32 dimensions each."""

    vocabulary: int
    width: int = 128
    layers: int = 8
    heads: int = 4
    kv_heads: int = 2
    hidden: int = 352
    context: int = 2048
    rope_base: float = 10000.0

    def tensors(self) -> Iterator[Tuple[str, Shape]]:
        """Names and shapes [outputs, inputs]; `qkv` and `gate_up` hold several matrices on top of each other."""
        width, queries, keys = self.width, self.heads * HEAD_DIM, self.kv_heads * HEAD_DIM
        yield "embedding", (self.vocabulary, width)
        for layer in range(self.layers):
            yield f"{layer}.attention_norm", (width,)
            yield f"{layer}.qkv", (queries + 2 * keys, width)
            yield f"{layer}.attention_out", (width, queries)
            yield f"{layer}.mlp_norm", (width,)
            yield f"{layer}.gate_up", (2 * self.hidden, width)
            yield f"{layer}.down", (width, self.hidden)
        yield "output_norm", (width,)

    def parts(self, name: str) -> Tuple[int, ...]:
        """The rows of each matrix inside the tensor `name`."""
        if name.endswith(".qkv"):
            return self.heads * HEAD_DIM, self.kv_heads * HEAD_DIM, self.kv_heads * HEAD_DIM
        if name.endswith(".gate_up"):
            return self.hidden, self.hidden
        return (dict(self.tensors())[name][0],)


class RecallModel:
    """Weights, gradients and the forward pass."""

    EMBEDDING_DEVIATION = 0.04

    def __init__(self, shape: ModelShape, seed: int = 0):
        self.shape = shape
        count = sum(math.prod(size) for _, size in shape.tensors())
        self.weights, self.gradient = torch.zeros(count), torch.zeros(count)
        self.tensors: Dict[str, torch.Tensor] = {}
        at = 0
        for name, size in shape.tensors():
            end = at + math.prod(size)
            tensor = self.weights[at:end].view(size).requires_grad_()
            tensor.grad = self.gradient[at:end].view(size)
            self.tensors[name] = tensor
            at = end
        angles = torch.arange(shape.context).double()[:, None] * self._frequencies()
        self._cosine, self._sine = angles.cos().float(), angles.sin().float()
        with torch.no_grad():
            self._draw(torch.Generator().manual_seed(seed))
            self._look_back()

    def logits(self, tokens: torch.Tensor, codes: torch.Tensor, positions: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        """Next-token logits [len(at), vocabulary] at the flat indices `at`; tokens, codes, positions [rows, length] int32."""
        tensors, shape = self.tensors, self.shape
        x = embedding(tokens.long(), tensors["embedding"])
        for layer in range(shape.layers):
            qkv = linear(rms_norm(x, tensors[f"{layer}.attention_norm"]), tensors[f"{layer}.qkv"])
            mixed = Attention.apply(qkv, codes, positions, self._cosine, self._sine, shape.heads, shape.kv_heads)
            if layer == shape.layers - 1:  # nothing behind the last attention looks at other tokens
                x, mixed = x.flatten(0, 1)[at], mixed.flatten(0, 1)[at]
            x = x + linear(mixed, tensors[f"{layer}.attention_out"])
            gate, up = linear(rms_norm(x, tensors[f"{layer}.mlp_norm"]), tensors[f"{layer}.gate_up"]).chunk(2, -1)
            x = x + linear(silu(gate) * up, tensors[f"{layer}.down"])
        return linear(rms_norm(x, tensors["output_norm"]), tensors["embedding"])

    def state(self) -> Dict:
        return {"shape": asdict(self.shape), "weights": self.weights.clone()}

    @classmethod
    def from_state(cls, state: Dict) -> "RecallModel":
        model = cls(ModelShape(**state["shape"]))
        model.weights.copy_(state["weights"])
        return model

    def _frequencies(self) -> torch.Tensor:
        return self.shape.rope_base ** (-torch.arange(0, HEAD_DIM, 2).double() / HEAD_DIM)

    def _draw(self, generator: torch.Generator) -> None:
        for name, tensor in self.tensors.items():
            if tensor.dim() == 1:
                tensor.fill_(1.0)
                continue
            deviation = self.EMBEDDING_DEVIATION if name == "embedding" else tensor.shape[1] ** -0.5
            if name.endswith((".attention_out", ".down")):
                deviation *= (2 * self.shape.layers) ** -0.5
            tensor.copy_(torch.randn(tensor.shape, generator=generator) * deviation)

    def _look_back(self) -> None:
        """Starts the heads of layer 0's first KV head as "previous token" heads, the first half of an induction head.

        Residual dimension 0 is the same for every token, so a query and a key that read it alone are rotated constants,
        and their score depends on the offset alone: it is largest where the query's phase undoes the rotation, at
        offset -1 for the first head, -2 for the second. Without this the model needs ten times as long to find copying.
        """
        constant = 4 * self.EMBEDDING_DEVIATION
        self.tensors["embedding"][:, 0] = constant
        normed = constant / math.sqrt(self.EMBEDDING_DEVIATION**2 + constant**2 / self.shape.width)
        sharpness = torch.zeros(HEAD_DIM // 2)
        sharpness[:8] = torch.tensor([6.0, 3.0, 2.0, 1.5, 1.0, 0.8, 0.6, 0.5])  # weight of each frequency, fastest first
        amplitude = (sharpness * math.sqrt(HEAD_DIM)).sqrt() / normed
        qkv, queries = self.tensors["0.qkv"], self.shape.heads * HEAD_DIM
        key = qkv[queries : queries + HEAD_DIM]
        key.mul_(0.3)
        key[0::2, 0], key[1::2, 0] = amplitude, 0
        for head in range(self.shape.heads // self.shape.kv_heads):
            query = qkv[head * HEAD_DIM : (head + 1) * HEAD_DIM]
            phase = -(head + 1) * self._frequencies()
            query.mul_(0.3)
            query[0::2, 0] = (amplitude * phase.cos()).float()
            query[1::2, 0] = (amplitude * phase.sin()).float()
