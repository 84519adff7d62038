"""Reads a model that `export_gguf.py` wrote back into a checkpoint, so that training can go on from what ships.

`python3 scripts/train/import_gguf.py models/recall-base/recall-base-f16.gguf base-recooled` writes build/train/base-recooled.pt. The
optimiser starts anew.
"""
import argparse
import struct
from pathlib import Path
from typing import Any, BinaryIO, Dict, Tuple

import numpy as np
import torch

from checkpoints import checkpoint, write_checkpoint
from export_gguf import ALIGNMENT, ARRAY, INT32, SCALARS, SHAPE_KEYS, STRING, TENSOR_TYPES, tensors
from model import ModelShape, RecallModel
from optimizer import Optimizer
from stages import STAGES

LAYOUTS = {INT32: "<i", **dict(SCALARS.values())}


def _read(file: BinaryIO, layout: str) -> Tuple:
    return struct.unpack(layout, file.read(struct.calcsize(layout)))


def _string(file: BinaryIO) -> str:
    return file.read(*_read(file, "<Q")).decode("utf-8")


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == STRING:
        return _string(file)
    if kind == ARRAY:
        item, count = _read(file, "<IQ")
        return [_value(file, item) for _ in range(count)]
    return _read(file, LAYOUTS[kind])[0]


def read_gguf(path: Path) -> Tuple[Dict[str, Any], Dict[str, np.ndarray]]:
    """The metadata and the tensors, as float32, of a file that `export_gguf.py` wrote."""
    with open(path, "rb") as file:
        magic, version, tensor_count, entries = _read(file, "<4sIQQ")
        if magic != b"GGUF" or version != 3:
            raise ValueError(f"{path}: not a GGUF v3 file")
        metadata = {}
        for _ in range(entries):
            key = _string(file)
            metadata[key] = _value(file, *_read(file, "<I"))
        infos = []
        for _ in range(tensor_count):
            name, (dimensions,) = _string(file), _read(file, "<I")
            infos.append((name, _read(file, f"<{dimensions}Q")[::-1], *_read(file, "<IQ")))
        begin = -(-file.tell() // ALIGNMENT) * ALIGNMENT
        found = {}
        for name, shape, kind, offset in infos:
            file.seek(begin + offset)
            found[name] = np.fromfile(file, TENSOR_TYPES[kind], int(np.prod(shape))).astype(np.float32).reshape(shape)
    return metadata, found


def read_model(path: Path) -> RecallModel:
    """The model of a GGUF file that this folder wrote."""
    metadata, found = read_gguf(path)
    sizes = {size: metadata[f"llama.{key}"] for size, key in SHAPE_KEYS.items()}
    model = RecallModel(ModelShape(rope_base=metadata["llama.rope.freq_base"], **sizes))
    with torch.no_grad():
        for name, view in tensors(model):
            view[...] = found[name]
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
    state = {"step": 0, "model": model.state(), "optimizer": Optimizer(model).state(), "running": 0.0, "evaluation": {}}
    write_checkpoint(arguments.stage, state)
    print(f"{out}: {model.weights.numel()} parameters of {arguments.file}")


if __name__ == "__main__":
    main()
