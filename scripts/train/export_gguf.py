"""Writes a checkpoint as GGUF v3, for llama.cpp.

`python3 scripts/train/export_gguf.py base-final` writes models/recall-base/recall-base-f16.gguf.
@see https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""
import argparse
import struct
from pathlib import Path
from typing import Dict, Iterator, List, Tuple, Union

import numpy as np

from checkpoints import read_checkpoint
from kernels import HEAD_DIM
from model import RMS_EPSILON, RecallModel
from tokenizer import MODELS, SPECIALS, Tokenizer

# What a stage becomes.
NAMES = {"base-final": "recall-base", "block-final": "recall-block", "smoke": "smoke"}
ALIGNMENT = 32

# Enumerations of the GGUF format.
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
TENSOR_F32, TENSOR_F16 = 0, 1
TENSOR_TYPES = {TENSOR_F32: "<f4", TENSOR_F16: "<f2"}
FILE_MOSTLY_F16 = 1
TOKEN_NORMAL, TOKEN_CONTROL = 1, 3
SCALARS = {bool: (BOOL, "<?"), int: (UINT32, "<I"), float: (FLOAT32, "<f")}

# Sizes of a model, and llama.cpp's names for them.
SHAPE_KEYS = {
    "vocabulary": "vocab_size",
    "context": "context_length",
    "width": "embedding_length",
    "layers": "block_count",
    "hidden": "feed_forward_length",
    "heads": "attention.head_count",
    "kv_heads": "attention.head_count_kv",
}

Value = Union[str, bool, int, float, List[str], List[int]]


def _string(text: str) -> bytes:
    raw = text.encode("utf-8")
    return struct.pack("<Q", len(raw)) + raw


def _entry(key: str, value: Value) -> bytes:
    """A key with its value, of the GGUF type that its Python type stands for; whole numbers in lists are signed."""
    if isinstance(value, str):
        kind, encoded = STRING, _string(value)
    elif not isinstance(value, list):
        kind, layout = SCALARS[type(value)]
        encoded = struct.pack(layout, value)
    elif all(isinstance(one, str) for one in value):
        kind, encoded = ARRAY, struct.pack("<IQ", STRING, len(value)) + b"".join(map(_string, value))
    else:
        kind, encoded = ARRAY, struct.pack(f"<IQ{len(value)}i", INT32, len(value), *value)
    return _string(key) + struct.pack("<I", kind) + encoded


def metadata(name: str, model: RecallModel, tokenizer: Tokenizer) -> Dict[str, Value]:
    return {
        "general.architecture": "llama",
        "general.type": "model",
        "general.name": name,
        "general.size_label": f"{model.weights.numel() / 1e6:.1f}M",
        "general.description": "Answers questions about a user from the memories in its context. Trained by dki-bench.",
        "general.license": "mit",
        "general.languages": ["en", "zh"],
        "general.file_type": FILE_MOSTLY_F16,
        "general.quantization_version": 2,
        **{f"llama.{key}": getattr(model.shape, size) for size, key in SHAPE_KEYS.items()},
        "llama.attention.key_length": HEAD_DIM,
        "llama.attention.value_length": HEAD_DIM,
        "llama.attention.layer_norm_rms_epsilon": RMS_EPSILON,
        "llama.rope.dimension_count": HEAD_DIM,
        "llama.rope.freq_base": model.shape.rope_base,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": tokenizer.tokens,
        "tokenizer.ggml.token_type": [TOKEN_CONTROL if token in SPECIALS else TOKEN_NORMAL for token in tokenizer.tokens],
        "tokenizer.ggml.merges": [" ".join(pair) for pair in tokenizer.merges],
        "tokenizer.ggml.bos_token_id": tokenizer.bos,
        "tokenizer.ggml.eos_token_id": tokenizer.eos,
        "tokenizer.ggml.padding_token_id": tokenizer.pad,
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.ggml.add_eos_token": False,
    }


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


def _padding(size: int) -> bytes:
    return b"\0" * (-size % ALIGNMENT)


def write_gguf(path: Path, name: str, model: RecallModel, tokenizer: Tokenizer) -> None:
    entries = [_entry(key, value) for key, value in metadata(name, model, tokenizer).items()]
    infos, blob = [], bytearray()
    for name, values in tensors(model):
        kind = TENSOR_F32 if values.ndim == 1 else TENSOR_F16
        sizes = struct.pack(f"<{values.ndim}Q", *reversed(values.shape))
        infos.append(_string(name) + struct.pack("<I", values.ndim) + sizes + struct.pack("<IQ", kind, len(blob)))
        blob += values.astype(TENSOR_TYPES[kind]).tobytes()
        blob += _padding(len(blob))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(entries)) + b"".join(entries + infos)
    fresh = path.with_suffix(".fresh")
    fresh.parent.mkdir(parents=True, exist_ok=True)
    fresh.write_bytes(head + _padding(len(head)) + blob)
    fresh.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=NAMES)
    parser.add_argument("--out", type=Path, help="default: the file that ships")
    arguments = parser.parse_args()
    name = NAMES[arguments.stage]
    out = arguments.out or MODELS / name / f"{name}-f16.gguf"
    run = read_checkpoint(arguments.stage)
    write_gguf(out, name, RecallModel.from_state(run["model"]), Tokenizer.read())
    print(f"{out}: {out.stat().st_size} bytes, step {run['step']}, {run['evaluation']}")


if __name__ == "__main__":
    main()
