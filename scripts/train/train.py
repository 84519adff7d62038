"""Trains a stage of the language models (`stages.py`). `--resume` goes on from the stage's last checkpoint.

Questions are learned from one or two memories first; the level rises when the running exact match passes LEVEL_UP.
"""
import argparse
import json
import os
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
from stages import STAGES, Stage
from tokenizer import Tokenizer

RUNS = ROOT / "build" / "train"
WARM_UP_STEPS = 100
LAST_LEVEL = 4
LEVEL_UP = 0.65
RUNNING_SHARE = 0.02
EVALUATION_EVERY = 1000


def learning_rate(step: int, stage: Stage) -> float:
    """Between 0 and 1: warm-up where nothing was trained before, constant, then linear decay over the last steps."""
    warm = 1.0 if stage.start is not None else min(1.0, step / WARM_UP_STEPS)
    if stage.decay_share == 0:
        return warm
    left = 1 - step / stage.steps
    return warm * min(1.0, max(0.01, left / stage.decay_share))


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
    """Held-out values in every layout, language and number of memories, drawn once."""

    def __init__(self, tokenizer: Tokenizer, layouts: str, documents: int):
        self._cells: Dict[str, List[Batch]] = {}
        for language in ("en", "zh"):
            for layout in ("text", "blocks", "parallel") if layouts == "block" else ("text",):
                for memories in (5, 10, 20) if layout == "text" else (10,):
                    cell = f"{language}/{layout}/{memories}"
                    self._cells[cell] = self._draw(tokenizer, documents, language, layout, memories)
            held_out = self._draw(tokenizer, documents, language, "text", 5, "held-out")
            self._cells[f"{language}/text/5/held-out phrasings"] = held_out
        self._cells["none"] = self._draw(tokenizer, documents, "en", "none", 1)

    def __call__(self, model: RecallModel) -> Dict[str, float]:
        """Exact match of the answerable questions by cell (of all questions for `none`), and by kind in known phrasings."""
        hits: Dict[str, List[bool]] = defaultdict(list)
        with torch.no_grad():
            for cell, batches in self._cells.items():
                for batch in batches:
                    for answer, exact in zip(batch.answers, Forward(model, batch).exact):
                        if cell == "none" or answer.kind != "absent":
                            hits[cell].append(exact)
                        if cell != "none" and not cell.endswith("phrasings"):
                            hits[answer.kind].append(exact)
        return {name: round(sum(exact) / len(exact), 3) for name, exact in hits.items()}

    @staticmethod
    def _draw(
        tokenizer: Tokenizer, documents: int, language: str, layout: str, memories: int, phrasing: str = "known"
    ) -> List[Batch]:
        options = ["--held-out", "--language", language, "--layout", layout, "--memories", str(memories)]
        options += ["--phrasing", phrasing, "--seed", str(9000 + memories), "--count", str(documents)]
        with dialogues("--level", str(LAST_LEVEL), *options) as drawn:
            return list(Packer(tokenizer).batches(drawn))


class Run:
    """A training run's state: everything that a checkpoint holds."""

    def __init__(self, name: str, tokenizer: Tokenizer, seed: int, resume: bool):
        stage = STAGES[name]
        self._path = RUNS / f"{name}.pt"
        if resume or stage.start is not None:
            saved = torch.load(self._path if resume else RUNS / f"{stage.start}.pt")
            self.model = RecallModel.from_state(saved["model"])
            self.optimizer = Optimizer(self.model)
            self.optimizer.restore(saved["optimizer"])
            self.running = saved["running"]
        else:
            self.model, self.running = RecallModel(ModelShape(len(tokenizer.tokens)), seed), 0.0
            self.optimizer = Optimizer(self.model)
        # Where a run is resumed, the document that waited in the packer is skipped.
        self.stream = DialogueStream(**saved["stream"]) if resume else self._first_documents(stage, seed)
        self.step = saved["step"] if resume else 0

    @staticmethod
    def _first_documents(stage: Stage, seed: int) -> DialogueStream:
        """A later stage sees other documents than the one before it, at the last level at once."""
        return DialogueStream(stage.layouts, seed) if stage.start is None else DialogueStream(stage.layouts, seed + 100, LAST_LEVEL)

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


def train(name: str, seed: int, resume: bool, evaluation_documents: int) -> None:
    RUNS.mkdir(parents=True, exist_ok=True)
    tokenizer, stage = Tokenizer.read(), STAGES[name]
    run, packer = Run(name, tokenizer, seed, resume), Packer(tokenizer)
    evaluate = Evaluation(tokenizer, stage.layouts, evaluation_documents)
    with open(RUNS / f"{name}.log", "a" if resume else "w", encoding="utf-8") as log:

        def say(**line: object) -> None:
            print(json.dumps(line), file=log, flush=True)

        start = time.strftime("%FT%TZ", time.gmtime())
        say(parameters=run.model.weights.numel(), stage=name, steps=stage.steps, seed=seed, start=start)
        began, loss_sum, tokens = time.time(), 0.0, 0
        while run.step < stage.steps:
            batch = packer.batch(run.stream)
            forward = Forward(run.model, batch)
            forward.loss.backward()
            run.step += 1
            run.optimizer.step(learning_rate(run.step, stage))
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
            if run.step % EVALUATION_EVERY == 0 or run.step == stage.steps:
                paused = time.time()
                evaluation = evaluate(run.model)
                say(step=run.step, evaluation=evaluation)
                run.save(evaluation)
                began += time.time() - paused
    run.stream.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=STAGES, help="names the log and the checkpoint in build/train/")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--evaluation-documents", type=int, default=40, help="of each kind")
    arguments = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    train(arguments.stage, arguments.seed, arguments.resume, arguments.evaluation_documents)


if __name__ == "__main__":
    main()
