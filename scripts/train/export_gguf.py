"""Writes a checkpoint as GGUF v3, for llama.cpp.

`python3 scripts/train/export_gguf.py base-final` writes models/recall-base/recall-base-f16.gguf.
@see https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""
import argparse
import struct
from pathlib import Path
from typing import Iterator, List, Sequence, Tuple

import numpy as np

from checkpoints import read_checkpoint
from kernels import HEAD_DIM, RMS_EPSILON
from model import RecallModel
from tokenizer import MODELS, SPECIALS, Tokenizer

# What a stage becomes.
NAMES = {"base-final": "recall-base", "block-final": "recall-block", "smoke": "smoke"}
ALIGNMENT = 32
Q8_0_BLOCK = 32

# Enumerations of the GGUF format.
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
TENSOR_F32, TENSOR_F16, TENSOR_Q8_0 = 0, 1, 8
TENSORS = {"f16": TENSOR_F16, "q8_0": TENSOR_Q8_0}
FILE_MOSTLY = {"f16": 1, "q8_0": 7}
TOKEN_NORMAL, TOKEN_CONTROL = 1, 3


def _string(text: str) -> bytes:
    raw = text.encode("utf-8")
    return struct.pack("<Q", len(raw)) + raw


class Metadata:
    """Typed key-value pairs, encoded as they come."""

    def __init__(self) -> None:
        self.entries: List[bytes] = []

    def text(self, key: str, value: str) -> None:
        self._add(key, STRING, _string(value))

    def whole(self, key: str, value: int) -> None:
        self._add(key, UINT32, struct.pack("<I", value))

    def real(self, key: str, value: float) -> None:
        self._add(key, FLOAT32, struct.pack("<f", value))

    def flag(self, key: str, value: bool) -> None:
        self._add(key, BOOL, struct.pack("<?", value))

    def texts(self, key: str, values: Sequence[str]) -> None:
        self._add(key, ARRAY, struct.pack("<IQ", STRING, len(values)) + b"".join(map(_string, values)))

    def wholes(self, key: str, values: Sequence[int]) -> None:
        self._add(key, ARRAY, struct.pack("<IQ", INT32, len(values)) + struct.pack(f"<{len(values)}i", *values))

    def _add(self, key: str, kind: int, value: bytes) -> None:
        self.entries.append(_string(key) + struct.pack("<I", kind) + value)


def metadata(name: str, model: RecallModel, tokenizer: Tokenizer, quantisation: str) -> Metadata:
    shape, data = model.shape, Metadata()
    data.text("general.architecture", "llama")
    data.text("general.type", "model")
    data.text("general.name", name)
    data.text("general.size_label", f"{model.weights.numel() / 1e6:.1f}M")
    data.text("general.description", "Answers questions about a user from the memories in its context. Trained by dki-bench.")
    data.text("general.license", "mit")
    data.texts("general.languages", ["en", "zh"])
    data.whole("general.file_type", FILE_MOSTLY[quantisation])
    data.whole("general.quantization_version", 2)
    data.whole("llama.vocab_size", shape.vocabulary)
    data.whole("llama.context_length", shape.context)
    data.whole("llama.embedding_length", shape.width)
    data.whole("llama.block_count", shape.layers)
    data.whole("llama.feed_forward_length", shape.hidden)
    data.whole("llama.attention.head_count", shape.heads)
    data.whole("llama.attention.head_count_kv", shape.kv_heads)
    data.whole("llama.attention.key_length", HEAD_DIM)
    data.whole("llama.attention.value_length", HEAD_DIM)
    data.real("llama.attention.layer_norm_rms_epsilon", RMS_EPSILON)
    data.whole("llama.rope.dimension_count", HEAD_DIM)
    data.real("llama.rope.freq_base", shape.rope_base)
    data.text("tokenizer.ggml.model", "gpt2")
    data.text("tokenizer.ggml.pre", "gpt-2")
    data.texts("tokenizer.ggml.tokens", tokenizer.tokens)
    data.wholes(
        "tokenizer.ggml.token_type",
        [TOKEN_CONTROL if token in SPECIALS else TOKEN_NORMAL for token in tokenizer.tokens],
    )
    data.texts("tokenizer.ggml.merges", [" ".join(pair) for pair in tokenizer.merges])
    data.whole("tokenizer.ggml.bos_token_id", tokenizer.bos)
    data.whole("tokenizer.ggml.eos_token_id", tokenizer.eos)
    data.whole("tokenizer.ggml.padding_token_id", tokenizer.pad)
    data.flag("tokenizer.ggml.add_bos_token", True)
    data.flag("tokenizer.ggml.add_eos_token", False)
    return data


def tensors(model: RecallModel) -> Iterator[Tuple[str, np.ndarray]]:
    """llama.cpp's names for the model's matrices. The output matrix is absent: it is the embedding."""
    single = {
        "embedding": "token_embd",
        "output_norm": "output_norm",
        "attention_norm": "attn_norm",
        "attention_out": "attn_output",
        "mlp_norm": "ffn_norm",
        "down": "ffn_down",
    }
    joined = {"qkv": ("attn_q", "attn_k", "attn_v"), "gate_up": ("ffn_gate", "ffn_up")}
    for name, tensor in model.tensors.items():
        layer, _, part = name.rpartition(".")
        prefix = f"blk.{layer}." if layer else ""
        names = joined.get(part) or (single[part],)
        for label, matrix in zip(names, tensor.detach().split(model.shape.parts(name))):
            yield f"{prefix}{label}.weight", matrix.contiguous().numpy()


def encoded(values: np.ndarray, kind: int) -> bytes:
    """Q8_0: blocks of 32 values, each a float16 scale and 32 signed bytes."""
    if kind != TENSOR_Q8_0:
        return values.astype(np.float16 if kind == TENSOR_F16 else np.float32).tobytes()
    blocks = values.reshape(-1, Q8_0_BLOCK)
    scale = np.abs(blocks).max(1) / 127
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    packed = np.empty(len(blocks), dtype=[("scale", "<f2"), ("values", "i1", Q8_0_BLOCK)])
    packed["scale"], packed["values"] = scale, np.round(blocks * inverse[:, None])
    return packed.tobytes()


def _padding(size: int) -> bytes:
    return b"\0" * (-size % ALIGNMENT)


def write_gguf(path: Path, name: str, model: RecallModel, tokenizer: Tokenizer, quantisation: str) -> None:
    data = metadata(name, model, tokenizer, quantisation)
    infos, blob = [], bytearray()
    for name, values in tensors(model):
        kind = TENSOR_F32 if values.ndim == 1 else TENSORS[quantisation]
        sizes = struct.pack(f"<{values.ndim}Q", *reversed(values.shape))
        infos.append(_string(name) + struct.pack("<I", values.ndim) + sizes + struct.pack("<IQ", kind, len(blob)))
        blob += encoded(values, kind)
        blob += _padding(len(blob))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(data.entries)) + b"".join(data.entries + infos)
    fresh = path.with_suffix(".fresh")
    fresh.parent.mkdir(parents=True, exist_ok=True)
    fresh.write_bytes(head + _padding(len(head)) + blob)
    fresh.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=NAMES)
    parser.add_argument("--quantisation", choices=TENSORS, default="f16")
    parser.add_argument("--out", type=Path, help="default: the file that ships")
    arguments = parser.parse_args()
    name = NAMES[arguments.stage]
    out = arguments.out or MODELS / name / f"{name}-{arguments.quantisation}.gguf"
    run = read_checkpoint(arguments.stage)
    write_gguf(out, name, RecallModel.from_state(run["model"]), Tokenizer.read(), arguments.quantisation)
    print(f"{out}: {out.stat().st_size} bytes, step {run['step']}, {run['evaluation']}")


if __name__ == "__main__":
    main()
