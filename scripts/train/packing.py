"""Documents become rows of tokens: several documents to a row, several questions to a document, none in sight of another.

A segment code is `document << 8 | segment`, where segment 0 is the header, 1-126 are memories, 127 links and 128-255
questions. A token sees earlier tokens of its own document that lie in the header or in its own segment; a link and a
question also see the memories. So every question is exactly the single question that the bench asks.

A block is evaluated at its final positions here. The bench evaluates each right behind the header and turns its keys
afterwards, so that its view of the header is nearer; of `parallel` and of the first block, both are the same.

In layout `link` the first tokens of a memory stand there twice, at the same positions: as the memory's own rest saw them
(REPLACED, which nothing else sees), and once more, ahead of that rest, in sight of all memories before it.
"""
from dataclasses import dataclass
from typing import Callable, Dict, Iterable, Iterator, List, Optional

import numpy as np

from tokenizer import Tokenizer

LINK, FIRST_QUESTION = 127, 128
REPLACED = 1 << 30
IGNORED = -1

Encode = Callable[[str], List[int]]
"""Text to token ids."""
Encoder = Callable[[Dict], Optional[Encode]]


@dataclass(frozen=True)
class Answer:
    """Where an answer is predicted: `length` targets (answer, then EOS) from flat index `start` of the batch."""

    start: int
    length: int
    kind: str
    layout: str


@dataclass(frozen=True)
class Batch:
    """Arrays [rows, length] int32; `targets` holds the id that each token should predict, or IGNORED."""

    tokens: np.ndarray
    codes: np.ndarray
    positions: np.ndarray
    targets: np.ndarray
    answers: List[Answer]


class EncodedDocument:
    """One document's tokens, with segments and positions within itself. `encode` tokenises all but the header."""

    def __init__(self, tokenizer: Tokenizer, document: Dict, encode: Optional[Encode] = None):
        encode = encode or tokenizer.encode
        self.layout: str = document["layout"]
        self.tokens: List[int] = []
        self.segments: List[int] = []
        self.positions: List[int] = []
        self.targets: List[int] = []
        self.answers: List[Answer] = []
        header = tokenizer.encode_all(document["header"])
        self._append(header, 0, 0)
        if len(document["memories"]) >= LINK:
            raise ValueError(f"a document of {len(document['memories'])} memories: {LINK - 1} at most have a segment")
        position = end = len(header)
        for number, text in enumerate(document["memories"], start=1):
            memory = encode(text)
            # The first block saw all that precedes it when it was built.
            linked = document["linked"] if self.layout == "link" and number > 1 else 0
            self._append_memory(memory, 0 if self.layout == "text" else number, position, linked)
            end = max(end, position + len(memory))
            position = len(header) if self.layout == "parallel" else end
        for number, question in enumerate(document["questions"]):
            suffix = [token for text in question["suffix"] for token in encode(text)]
            answer = [*encode(question["answer"]), tokenizer.eos]
            start = len(self.tokens) + len(suffix) - 1
            self._append(suffix + answer[:-1], FIRST_QUESTION + number, end)
            self.targets[start:] = answer
            self.answers.append(Answer(start, len(answer), question["kind"], self.layout))

    def __len__(self) -> int:
        return len(self.tokens)

    def fitting(self, room: int) -> int:
        """How many tokens of this document fit into `room` when whole questions are left out; 0 if not even one fits."""
        ends = [answer.start + answer.length for answer in self.answers]
        return max((end for end in ends if end <= room), default=0)

    def _append_memory(self, tokens: List[int], segment: int, position: int, linked: int) -> None:
        beginning, rest = tokens[:linked], tokens[linked:]
        self._append(beginning, segment | REPLACED, position)
        self._append(beginning, LINK, position)
        self._append(rest, segment, position + len(beginning))

    def _append(self, tokens: List[int], segment: int, position: int) -> None:
        self.tokens += tokens
        self.segments += [segment] * len(tokens)
        self.positions += range(position, position + len(tokens))
        self.targets += [IGNORED] * len(tokens)


class Packer:
    """Packs a stream of documents into batches; what no longer fits into a row opens the next one.

    `encoder` says how the memories and questions of a document are tokenised, where not as they stand."""

    def __init__(self, tokenizer: Tokenizer, rows: int = 2, length: int = 2048, encoder: Encoder = lambda document: None):
        self.tokenizer, self.rows, self.length, self._encoder = tokenizer, rows, length, encoder
        self._waiting: Optional[EncodedDocument] = None

    def batch(self, documents: Iterator[Dict]) -> Batch:
        """The next batch; a last, partial one if `documents` ends."""
        filled = (self.tokenizer.pad, 0, 0, IGNORED)
        batch = Batch(*(np.full((self.rows, self.length), value, np.int32) for value in filled), [])
        for row in range(self.rows):
            self._fill(batch, row, documents)
        return batch

    def batches(self, documents: Iterable[Dict]) -> Iterator[Batch]:
        """Batches until the documents end."""
        source = iter(documents)
        while (batch := self.batch(source)).answers:
            yield batch

    def _fill(self, batch: Batch, row: int, documents: Iterator[Dict]) -> None:
        at = number = 0
        while True:
            if self._waiting is None:
                document = next(documents, None)
                if document is None:
                    break
                self._waiting = EncodedDocument(self.tokenizer, document, self._encoder(document))
            taken = self._waiting.fitting(self.length - at)
            if taken == 0:
                if at > 0:
                    break
                self._waiting = None  # longer than a whole row
                continue
            number += 1
            document, place = self._waiting, slice(at, at + taken)
            batch.tokens[row, place] = document.tokens[:taken]
            batch.codes[row, place] = document.segments[:taken]
            batch.codes[row, place] += number << 8
            batch.positions[row, place] = document.positions[:taken]
            batch.targets[row, place] = document.targets[:taken]
            for answer in document.answers:
                if answer.start + answer.length <= taken:
                    start = row * self.length + at + answer.start
                    batch.answers.append(Answer(start, answer.length, answer.kind, answer.layout))
            at += taken
            self._waiting = None
        # The padding is a document of its own, each token a header that sees what precedes it: cheap, and never a target.
        batch.codes[row, at:] = (number + 1) << 8
