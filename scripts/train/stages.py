"""What is trained, in which order: each stage is one command, `train.py STAGE`."""
from dataclasses import dataclass
from typing import Dict, Optional


@dataclass(frozen=True)
class Stage:
    """`steps` of 4,096 tokens, the last `decay_share` of them at a falling rate; `start` names the stage that it goes on from."""

    layouts: str
    steps: int
    decay_share: float
    start: Optional[str] = None


STAGES: Dict[str, Stage] = {
    # An ordinary model, at a constant rate, and the same cooled down: `recall-base`.
    "base": Stage("base", 5_000, 0.0),
    "base-final": Stage("base", 3_500, 1.0, "base"),
    # From the same weights, on the layouts of joined K/V as well: `recall-block`.
    "block-final": Stage("block", 3_500, 0.9, "base"),
    # A toy, to see that everything fits together.
    "smoke": Stage("block", 150, 0.3),
}
