"""Reads a model that `export_gguf.py` wrote back into a checkpoint, so that training can go on from what ships.

`python3 scripts/train/import_gguf.py models/recall-base/recall-base-f16.gguf base-recooled` writes build/train/base-recooled.pt. The
optimiser starts anew.
"""
import argparse
import struct
from pathlib import Path
from typing import Any, BinaryIO, Dict, List, Tuple

import numpy as np
import torch

from checkpoints import checkpoint, write_checkpoint
from export_gguf import ALIGNMENT, ARRAY, BOOL, FLOAT32, INT32, Q8_0_BLOCK, STRING, TENSOR_F16, TENSOR_F32, TENSOR_Q8_0, UINT32, tensors
from model import ModelShape, RecallModel
from optimizer import Optimizer
from stages import STAGES

SCALARS = {UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<?"}


class GGUF:
    """The metadata and the tensors, as float32, of a file."""

    def __init__(self, path: Path):
        with open(path, "rb") as file:
            magic, version, tensor_count, entries = struct.unpack("<4sIQQ", file.read(24))
            if magic != b"GGUF" or version != 3:
                raise ValueError(f"{path}: not a GGUF v3 file")
            self.metadata: Dict[str, Any] = {}
            for _ in range(entries):
                key = _string(file)
                self.metadata[key] = _value(file, *struct.unpack("<I", file.read(4)))
            infos = [self._info(file) for _ in range(tensor_count)]
            begin = -(-file.tell() // ALIGNMENT) * ALIGNMENT
            self.tensors: Dict[str, np.ndarray] = {}
            for name, shape, kind, offset in infos:
                file.seek(begin + offset)
                self.tensors[name] = _decoded(file, shape, kind)

    @staticmethod
    def _info(file: BinaryIO) -> Tuple[str, List[int], int, int]:
        name = _string(file)
        (dimensions,) = struct.unpack("<I", file.read(4))
        sizes = struct.unpack(f"<{dimensions}Q", file.read(8 * dimensions))
        return (name, list(reversed(sizes)), *struct.unpack("<IQ", file.read(12)))


def _string(file: BinaryIO) -> str:
    return file.read(struct.unpack("<Q", file.read(8))[0]).decode("utf-8")


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == STRING:
        return _string(file)
    if kind == ARRAY:
        item, count = struct.unpack("<IQ", file.read(12))
        return [_value(file, item) for _ in range(count)]
    layout = SCALARS.get(kind)
    if layout is None:
        raise ValueError(f"metadata of type {kind}: only what export_gguf.py writes can be read")
    return struct.unpack(layout, file.read(struct.calcsize(layout)))[0]


def _decoded(file: BinaryIO, shape: List[int], kind: int) -> np.ndarray:
    count = int(np.prod(shape))
    if kind == TENSOR_Q8_0:
        blocks = np.fromfile(file, [("scale", "<f2"), ("values", "i1", Q8_0_BLOCK)], count // Q8_0_BLOCK)
        values = blocks["scale"].astype(np.float32)[:, None] * blocks["values"]
    elif kind in (TENSOR_F16, TENSOR_F32):
        values = np.fromfile(file, {TENSOR_F16: "<f2", TENSOR_F32: "<f4"}[kind], count).astype(np.float32)
    else:
        raise ValueError(f"tensor type {kind}: F32, F16 and Q8_0 can be read")
    return values.reshape(shape)


def read_model(path: Path) -> RecallModel:
    """The model of a GGUF file that this folder wrote."""
    gguf = GGUF(path)
    whole = {name.removeprefix("llama."): value for name, value in gguf.metadata.items()}
    model = RecallModel(
        ModelShape(
            vocabulary=whole["vocab_size"],
            width=whole["embedding_length"],
            layers=whole["block_count"],
            heads=whole["attention.head_count"],
            kv_heads=whole["attention.head_count_kv"],
            hidden=whole["feed_forward_length"],
            context=whole["context_length"],
            rope_base=whole["rope.freq_base"],
        )
    )
    with torch.no_grad():
        for name, view in tensors(model):
            view[...] = gguf.tensors[name]
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("stage", choices=STAGES, help="the stage whose checkpoint it stands for")
    arguments = parser.parse_args()
    model = read_model(arguments.file)
    out = checkpoint(arguments.stage)
    if out.exists():
        raise SystemExit(f"{out} is there: move it away first")
    state = {"model": model.state(), "optimizer": Optimizer(model).state(), "running": 0.0, "evaluation": {}}
    write_checkpoint(arguments.stage, state)
    print(f"{out}: {model.weights.numel()} parameters of {arguments.file}")


if __name__ == "__main__":
    main()
