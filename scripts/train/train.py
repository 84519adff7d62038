"""Trains the language model. `--resume` goes on from the run's last checkpoint.

Questions are learned from one or two memories first; the level rises when the running exact match passes LEVEL_UP.
"""
import argparse
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Dict, List, Optional

import torch
from torch.nn.functional import cross_entropy

from dialogue_stream import ROOT, DialogueStream, dialogues
from model import ModelShape, RecallModel
from optimizer import Optimizer
from packing import IGNORED, Batch, Packer
from tokenizer import Tokenizer

RUNS = ROOT / "build" / "train"
STEPS = 12_600
WARM_UP_STEPS = 100
DECAY_SHARE = 0.45
LAST_LEVEL = 4
LEVEL_UP = 0.65
RUNNING_SHARE = 0.02
EVALUATION_EVERY = 500
EVALUATION_DOCUMENTS = 40


def learning_rate(step: int, steps: int) -> float:
    """Between 0 and 1: warm-up, constant, then linear decay over the last DECAY_SHARE of the run."""
    left = 1 - step / steps
    return min(1.0, step / WARM_UP_STEPS) * min(1.0, max(0.02, left / DECAY_SHARE))


class Forward:
    """A batch run through a model: loss and which answers come out whole, teacher-forced."""

    def __init__(self, model: RecallModel, batch: Batch):
        tokens, codes, positions, targets = map(
            torch.from_numpy, (batch.tokens, batch.codes, batch.positions, batch.targets)
        )
        targets = targets.flatten().long()
        at = (targets != IGNORED).nonzero()[:, 0]
        logits = model.logits(tokens, codes, positions, at)
        self.loss = cross_entropy(logits, targets[at])
        right = torch.zeros(len(targets), dtype=torch.bool)
        right[at] = logits.argmax(-1) == targets[at]
        self.exact: List[bool] = [bool(right[a.start : a.start + a.length].all()) for a in batch.answers]


class Evaluation:
    """Held-out values in every layout with 5 and 10 memories, drawn once."""

    def __init__(self, tokenizer: Tokenizer):
        self._cells: Dict[str, List[Batch]] = {}
        for layout in ("text", "blocks", "parallel"):
            for memories in (5, 10):
                self._cells[f"{layout}/{memories}"] = self._draw(tokenizer, layout, memories)
        self._cells["none"] = self._draw(tokenizer, "none", 1)

    def __call__(self, model: RecallModel) -> Dict[str, float]:
        """Exact match of the answerable questions by cell (of all questions for `none`), and by kind over the cells."""
        hits: Dict[str, List[bool]] = defaultdict(list)
        with torch.no_grad():
            for cell, batches in self._cells.items():
                for batch in batches:
                    for answer, exact in zip(batch.answers, Forward(model, batch).exact):
                        if cell == "none" or answer.kind != "absent":
                            hits[cell].append(exact)
                        if cell != "none":
                            hits[answer.kind].append(exact)
        return {name: round(sum(exact) / len(exact), 3) for name, exact in hits.items()}

    @staticmethod
    def _draw(tokenizer: Tokenizer, layout: str, memories: int) -> List[Batch]:
        options = ["--held-out", "--layout", layout, "--memories", str(memories), "--seed", str(9000 + memories)]
        with dialogues("--level", str(LAST_LEVEL), "--count", str(EVALUATION_DOCUMENTS), *options) as documents:
            return list(Packer(tokenizer).batches(documents))


class Run:
    """A training run's state: everything that a checkpoint holds."""

    def __init__(self, path: Path, tokenizer: Tokenizer, seed: int, resume: bool):
        self._path = path
        saved: Optional[Dict] = torch.load(path) if resume else None
        if saved is None:
            self.model = RecallModel(ModelShape(len(tokenizer.tokens)), seed)
            self.stream = DialogueStream(seed)
            self.step, self.running = 0, 0.0
        else:
            self.model = RecallModel.from_state(saved["model"])
            # The document that waited in the packer is skipped.
            self.stream = DialogueStream(**saved["stream"])
            self.step, self.running = saved["step"], saved["running"]
        self.optimizer = Optimizer(self.model)
        if saved is not None:
            self.optimizer.restore(saved["optimizer"])

    def save(self, evaluation: Dict[str, float]) -> None:
        state = {
            "model": self.model.state(),
            "optimizer": self.optimizer.state(),
            "stream": self.stream.state,
            "step": self.step,
            "running": self.running,
            "evaluation": evaluation,
        }
        fresh = self._path.with_suffix(".fresh")
        torch.save(state, fresh)
        fresh.replace(self._path)


def train(name: str, seed: int, steps: int, resume: bool) -> None:
    RUNS.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer.read()
    run, packer = Run(RUNS / f"{name}.pt", tokenizer, seed, resume), Packer(tokenizer)
    evaluate = Evaluation(tokenizer)
    with open(RUNS / f"{name}.log", "a" if resume else "w", encoding="utf-8") as log:

        def say(**line: object) -> None:
            print(json.dumps(line), file=log, flush=True)

        say(parameters=run.model.weights.numel(), steps=steps, seed=seed, start=time.strftime("%FT%TZ", time.gmtime()))
        began, loss_sum, tokens = time.time(), 0.0, 0
        while run.step < steps:
            batch = packer.batch(run.stream)
            forward = Forward(run.model, batch)
            forward.loss.backward()
            run.step += 1
            run.optimizer.step(learning_rate(run.step, steps))
            loss_sum += float(forward.loss)
            tokens += batch.tokens.size
            run.running += RUNNING_SHARE * (sum(forward.exact) / len(forward.exact) - run.running)
            if run.running > LEVEL_UP and run.stream.level < LAST_LEVEL:
                run.stream.rise()
                run.running *= 0.6
                say(step=run.step, level=run.stream.level)
            if run.step % 50 == 0:
                rate = round(tokens / (time.time() - began))
                say(step=run.step, loss=round(loss_sum / 50, 4), exact=round(run.running, 3), tokens_per_second=rate)
                began, loss_sum, tokens = time.time(), 0.0, 0
            if run.step % EVALUATION_EVERY == 0 or run.step == steps:
                paused = time.time()
                evaluation = evaluate(run.model)
                say(step=run.step, evaluation=evaluation)
                run.save(evaluation)
                began += time.time() - paused
    run.stream.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", default="lm", help="names the log and the checkpoint in build/train/")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=STEPS, help="4,096 tokens each")
    parser.add_argument("--resume", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    train(arguments.run, arguments.seed, arguments.steps, arguments.resume)


if __name__ == "__main__":
    main()
