"""Trains a stage of the language models (`stages.py`). `--resume` goes on from the stage's last checkpoint.

Questions are learned from one or two memories first; the level rises when the running exact match passes LEVEL_UP.
"""
import argparse
import json
import os
import time
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Callable, Dict, List, Tuple

import torch
import torch.multiprocessing
from torch import distributed
from torch.nn.functional import cross_entropy

from checkpoints import RUNS, checkpoint, read_checkpoint, write_checkpoint
from dialogue_stream import DialogueStream, dialogues
from model import ModelShape, RecallModel
from optimizer import Optimizer
from packing import IGNORED, Batch, Packer
from token_substitution import TokenSubstitution
from stages import STAGES, Stage
from tokenizer import Tokenizer

WARM_UP_STEPS = 100
LAST_LEVEL = 4
LEVEL_UP = 0.65
RUNNING_SHARE = 0.02
EVALUATION_EVERY = 1000
COREFERENCE = "coreference"


def learning_rate(step: int, stage: Stage, optimizer_steps: int) -> float:
    """Between 0 and 1: warm-up of a new optimiser, constant, then linear decay over the last steps."""
    warm = min(1.0, (optimizer_steps + 1) / WARM_UP_STEPS)
    first, last = stage.rates
    left = min(1.0, (1 - step / stage.steps) / stage.decay_share) if stage.decay_share > 0 else 1.0
    return warm * max(0.01, last + (first - last) * left)


class Forward:
    """A batch run through a model: loss and which answers come out whole, teacher-forced."""

    def __init__(self, model: RecallModel, batch: Batch):
        arrays = (batch.tokens, batch.codes, batch.positions, batch.targets)
        tokens, codes, positions, targets = map(torch.from_numpy, arrays)
        targets = targets.flatten().long()
        at = (targets != IGNORED).nonzero()[:, 0]
        logits = model.logits(tokens, codes, positions, at)
        self.loss = cross_entropy(logits, targets[at])
        right = torch.zeros(len(targets), dtype=torch.bool)
        right[at] = logits.argmax(-1) == targets[at]
        self.exact: List[bool] = [bool(right[a.start : a.start + a.length].all()) for a in batch.answers]


class Evaluation:
    """Held-out values in every layout, language and number of memories, drawn once. A cell's figure is of the questions whose
    kind its test accepts; those of all memories count by their kind, too."""

    def __init__(self, tokenizer: Tokenizer, layouts: str, documents: int):
        self._cells: Dict[str, Tuple[List[Batch], Callable[[str], bool], bool]] = {}

        def answerable(kind: str) -> bool:
            return kind != "absent"

        for language in ("en", "zh"):
            for layout in ("text", "blocks", "parallel", "link") if layouts == "block" else ("text",):
                for memories in (5, 10, 20) if layout == "text" else (10,):
                    drawn = self._draw(tokenizer, documents, language, layout, memories)
                    self._cells[f"{language}/{layout}/{memories}"] = drawn, answerable, True
                practice = self._draw(tokenizer, documents, language, layout, 8, "--practice")
                self._cells[f"{language}/{layout}/{COREFERENCE}"] = practice, lambda kind: kind == COREFERENCE, False
            held_out = self._draw(tokenizer, documents, language, "text", 5, "--phrasing", "held-out")
            self._cells[f"{language}/text/5/held-out phrasings"] = held_out, answerable, False
        self._cells["none"] = self._draw(tokenizer, documents, "en", "none", 1), lambda kind: True, False

    def __call__(self, model: RecallModel) -> Dict[str, float]:
        """Exact match by cell, and by kind of question."""
        hits: Dict[str, List[bool]] = defaultdict(list)
        with torch.no_grad():
            for name, (batches, counts, by_kind) in self._cells.items():
                for batch in batches:
                    for answer, exact in zip(batch.answers, Forward(model, batch).exact):
                        if counts(answer.kind):
                            hits[name].append(exact)
                        if by_kind:
                            hits[answer.kind].append(exact)
        return {name: round(sum(exact) / len(exact), 3) for name, exact in hits.items()}

    @staticmethod
    def _draw(tokenizer: Tokenizer, documents: int, language: str, layout: str, memories: int, *more: str) -> List[Batch]:
        options = ["--held-out", "--language", language, "--layout", layout, "--memories", str(memories)]
        options += ["--seed", str(9000 + memories), "--count", str(documents)]
        with dialogues("--level", str(LAST_LEVEL), *options, *more) as drawn:
            return list(Packer(tokenizer).batches(drawn))


def average(values: torch.Tensor) -> None:
    """In place, over all workers, which are processes of one core each, see other documents and step alike."""
    distributed.all_reduce(values)
    values /= distributed.get_world_size()


class Run:
    """A training run's state: everything that a checkpoint holds."""

    def __init__(self, name: str, tokenizer: Tokenizer, seed: int, resume: bool):
        stage = STAGES[name]
        self._name = name
        if resume or stage.start is not None:
            saved = read_checkpoint(name if resume else stage.start)
            self.model = RecallModel.from_state(saved["model"])
            self.optimizer = Optimizer(self.model)
            self.optimizer.restore(saved["optimizer"])
            self.running = saved["running"]
        else:
            self.model, self.running = RecallModel(ModelShape(len(tokenizer.tokens)), seed), 0.0
            self.optimizer = Optimizer(self.model)
        # Where a run is resumed, the document that waited in the packer is skipped.
        self.stream = self._next_documents(saved) if resume else self._first_documents(name, seed)
        self.step = saved["step"] if resume else 0

    def _first_documents(self, name: str, seed: int) -> DialogueStream:
        """A later stage sees other documents than those before it, at the last level at once."""
        stage = STAGES[name]
        place = list(STAGES).index(name) if stage.start is not None else 0
        return DialogueStream(stage.layouts, seed + 100 * place + 1000 * distributed.get_rank(), LAST_LEVEL if place > 0 else 0)

    def _next_documents(self, saved: Dict) -> DialogueStream:
        streams, workers = saved.get("streams", []), distributed.get_world_size()
        if len(streams) != workers:
            path = checkpoint(self._name)
            raise ValueError(f"{path} is of {len(streams)} workers, not {workers}: start without --resume")
        return DialogueStream(**streams[distributed.get_rank()])

    def save(self, evaluation: Dict[str, float]) -> None:
        streams = [self.stream.state] * distributed.get_world_size()
        distributed.all_gather_object(streams, self.stream.state)
        if distributed.get_rank() > 0:
            return
        state = {
            "model": self.model.state(),
            "optimizer": self.optimizer.state(),
            "streams": streams,
            "step": self.step,
            "running": self.running,
            "evaluation": evaluation,
        }
        write_checkpoint(self._name, state)


def train(rank: int, meeting: Path, options: argparse.Namespace) -> None:
    """One worker of a stage."""
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    tokenizer, stage = Tokenizer.read(), STAGES[options.stage]
    distributed.init_process_group("gloo", f"file://{meeting}", rank=rank, world_size=stage.workers)
    run = Run(options.stage, tokenizer, options.seed, options.resume)
    packer = Packer(tokenizer, encoder=TokenSubstitution(tokenizer, stage.strange).encoder)
    evaluate = Evaluation(tokenizer, stage.layouts, options.evaluation_documents) if rank == 0 else None
    # JSON lines, of the first worker.
    file = open(RUNS / f"{options.stage}.log" if rank == 0 else os.devnull, "a" if options.resume else "w", encoding="utf-8")

    def log(**line: object) -> None:
        print(json.dumps(line), file=file, flush=True)

    start = time.strftime("%FT%TZ", time.gmtime())
    log(parameters=run.model.weights.numel(), stage=options.stage, steps=stage.steps, seed=options.seed, start=start)
    began, loss_sum, tokens = time.time(), 0.0, 0
    while run.step < stage.steps:
        batch = packer.batch(run.stream)
        forward = Forward(run.model, batch)
        forward.loss.backward()
        run.step += 1
        average(run.model.gradient)
        seen = torch.tensor([float(forward.loss), sum(forward.exact) / len(forward.exact)])
        average(seen)
        loss, exact = seen.tolist()
        run.optimizer.step(learning_rate(run.step, stage, run.optimizer.steps))
        loss_sum += loss
        tokens += batch.tokens.size * stage.workers
        run.running += RUNNING_SHARE * (exact - run.running)
        if run.running > LEVEL_UP and run.stream.level < LAST_LEVEL:
            run.stream.rise()
            run.running *= 0.6
            log(step=run.step, level=run.stream.level)
        if run.step % 50 == 0:
            rate = round(tokens / (time.time() - began))
            log(step=run.step, loss=round(loss_sum / 50, 4), exact=round(run.running, 3), tokens_per_second=rate)
            began, loss_sum, tokens = time.time(), 0.0, 0
        if run.step % EVALUATION_EVERY == 0 or run.step == stage.steps:
            paused = time.time()
            evaluation = {} if evaluate is None else evaluate(run.model)
            log(step=run.step, evaluation=evaluation)
            run.save(evaluation)
            began += time.time() - paused
    run.stream.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=STAGES, help="names the log and the checkpoint in build/train/")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--evaluation-documents", type=int, default=40, help="of each kind")
    options = parser.parse_args()
    RUNS.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(train, (Path(folder) / "meeting", options), STAGES[options.stage].workers)


if __name__ == "__main__":
    main()
