"""The dialogues that `dialogues.ts` writes, read through a pipe, so that training shares the bench's grammar."""
import json
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import Dict, Iterator

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def dialogues(*arguments: str) -> Iterator[Iterator[Dict]]:
    """Runs the generator with `arguments` (see `dialogues.ts`); the same arguments give the same documents."""
    command = ["node", "--import", "tsx", "scripts/train/dialogues.ts", *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    try:
        yield (json.loads(line) for line in process.stdout)
        if process.poll() not in (None, 0):
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    finally:
        process.stdout.close()
        process.terminate()
        process.wait()


class DialogueStream:
    """An endless stream whose level can rise. Its `state` is enough to go on from the same document."""

    def __init__(self, stage: str, seed: int, level: int = 0, consumed: int = 0):
        self.stage, self.seed, self.level, self.consumed = stage, seed, level, consumed
        self._open()
        for _ in range(consumed):
            next(self._documents)

    @property
    def state(self) -> Dict:
        return {"stage": self.stage, "seed": self.seed, "level": self.level, "consumed": self.consumed}

    def __iter__(self) -> "DialogueStream":
        return self

    def __next__(self) -> Dict:
        self.consumed += 1
        return next(self._documents)

    def rise(self) -> None:
        """Goes on with the documents of the next level."""
        self.close()
        self.level, self.consumed = self.level + 1, 0
        self._open()

    def close(self) -> None:
        self._context.__exit__(None, None, None)

    def _open(self) -> None:
        options = ["--stage", self.stage, "--level", str(self.level), "--seed", str(self.seed * 10 + self.level)]
        self._context = dialogues(*options, "--phrasing", "trained", "--practice")
        self._documents = self._context.__enter__()
