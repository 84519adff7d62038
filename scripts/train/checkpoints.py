"""Where the state of a stage is kept between its steps: `build/train/STAGE.pt`."""
from pathlib import Path
from typing import Dict

import torch

from dialogue_stream import ROOT

RUNS = ROOT / "build" / "train"


def checkpoint(stage: str) -> Path:
    return RUNS / f"{stage}.pt"


def read_checkpoint(stage: str) -> Dict:
    return torch.load(checkpoint(stage))


def write_checkpoint(stage: str, state: Dict) -> None:
    """The last one stays until the new one is whole."""
    RUNS.mkdir(parents=True, exist_ok=True)
    fresh = checkpoint(stage).with_suffix(".fresh")
    torch.save(state, fresh)
    fresh.replace(checkpoint(stage))
