"""What is trained, in which order: each stage is one command, `train.py STAGE`."""
from dataclasses import dataclass
from typing import Dict, Optional, Tuple


@dataclass(frozen=True)
class Stage:
    """`steps` of 4,096 tokens a worker, the last `decay_share` of them at a rate that falls from the first of `rates` to the
    other; `strange` of the documents hold strange words (`token_substitution.py`); `start` names the stage that it goes on from."""

    layouts: str
    steps: int
    decay_share: float
    start: Optional[str] = None
    workers: int = 1
    rates: Tuple[float, float] = (1.0, 0.0)
    strange: float = 0.0


STAGES: Dict[str, Stage] = {
    # An ordinary model, at a constant rate, cooled down; twice.
    "base": Stage("base", 5_000, 0.0),
    "base-cooled": Stage("base", 3_500, 1.0, "base"),
    "base-longer": Stage("base", 3_000, 0.0, "base-cooled", workers=2),
    "base-recooled": Stage("base", 3_500, 1.0, "base-longer"),
    "base-halfway": Stage("base", 3_000, 1.0, "base-recooled", workers=2, rates=(1.0, 0.6)),
    "base-settled": Stage("base", 2_000, 1.0, "base-halfway", rates=(0.6, 0.0)),
    # And once more, not to the end, on two cores: what both models come from.
    "base-strange": Stage("base", 5_500, 1.0, "base-settled", workers=2, rates=(1.0, 0.5), strange=0.4),
    # The same cooled down again: `recall-base`.
    "base-final": Stage("base", 2_000, 1.0, "base-strange", rates=(0.5, 0.0), strange=0.2),
    # From the same weights, on the layouts of joined KV as well: `recall-block`.
    "block-final": Stage("block", 2_000, 1.0, "base-strange", rates=(0.5, 0.0), strange=0.2),
    # A toy, to see that everything fits together.
    "smoke": Stage("block", 75, 0.3, workers=2, strange=0.2),
}
