"""Packing: what a document's tokens see, where they stand, and what they should predict."""
import unittest

import numpy as np

from packing import FIRST_QUESTION, IGNORED, LINK, REPLACED, EncodedDocument, Packer
from tokenizer import SPECIALS, SYMBOLS, Tokenizer

TOKENIZER = Tokenizer({token: number for number, token in enumerate([*SPECIALS, *SYMBOLS])}, [])


def document(layout, questions=2):
    return {
        "layout": layout,
        "header": ["Sys\n", "Info:\n"],
        "memories": ["[1] ab\n", "[2] longer\n"],
        "linked": 3,
        "questions": [{"suffix": ["\n", f"Q{n}?", "AI:"], "answer": f" {n}.", "kind": "plain"} for n in range(questions)],
    }


class DocumentTest(unittest.TestCase):
    header = 1 + len("Sys\nInfo:\n")
    memories = [len("[1] ab\n"), len("[2] longer\n")]

    def starts(self, layout):
        """The first position and the segment of both memories and of the first question."""
        encoded = EncodedDocument(TOKENIZER, document(layout))
        at = [self.header, self.header + self.memories[0], self.header + sum(self.memories)]
        return [(encoded.positions[place], encoded.segments[place]) for place in at]

    def test_where_memories_and_questions_stand_and_what_they_see(self):
        behind_first, end = self.header + self.memories[0], self.header + sum(self.memories)
        for layout, first, second, question in (
            ("text", (self.header, 0), (behind_first, 0), end),
            ("blocks", (self.header, 1), (behind_first, 2), end),
            ("parallel", (self.header, 1), (self.header, 2), self.header + max(self.memories)),
        ):
            with self.subTest(layout):
                self.assertEqual(self.starts(layout), [first, second, (question, FIRST_QUESTION)])

    def test_the_first_tokens_of_a_later_block_stand_there_twice_when_linked(self):
        encoded, blocks = (EncodedDocument(TOKENIZER, document(layout)) for layout in ("link", "blocks"))
        second = self.header + self.memories[0]
        self.assertEqual(encoded.segments[second : second + 7], [2 | REPLACED] * 3 + [LINK] * 3 + [2])
        self.assertEqual(encoded.tokens[second : second + 3], encoded.tokens[second + 3 : second + 6])
        self.assertEqual(encoded.positions[second : second + 3], encoded.positions[second + 3 : second + 6])
        for array in ("tokens", "positions"):
            linked, plain = getattr(encoded, array), getattr(blocks, array)
            self.assertEqual(linked[: second + 3] + linked[second + 6 :], plain)

    def test_every_question_stands_where_it_would_stand_alone(self):
        both, alone = (EncodedDocument(TOKENIZER, document("blocks", count)) for count in (2, 1))
        second = [place for place, segment in enumerate(both.segments) if segment == FIRST_QUESTION + 1]
        self.assertEqual(both.positions[second[0]], alone.positions[self.header + sum(self.memories)])

    def test_targets_are_the_answer_and_the_end(self):
        encoded = EncodedDocument(TOKENIZER, document("text"))
        for answer, text in zip(encoded.answers, (" 0.", " 1.")):
            expected = [*TOKENIZER.encode(text), TOKENIZER.eos]
            self.assertEqual(encoded.targets[answer.start : answer.start + answer.length], expected)
            self.assertEqual(TOKENIZER.decode(encoded.tokens[answer.start - 2 : answer.start + 1]), "AI:")
        self.assertEqual(sum(target != IGNORED for target in encoded.targets), sum(a.length for a in encoded.answers))


class PackerTest(unittest.TestCase):
    def test_a_row_holds_whole_questions_and_separate_documents(self):
        size = len(EncodedDocument(TOKENIZER, document("text", 3)))
        batches = list(Packer(TOKENIZER, rows=2, length=size + 60).batches(document("text", 3) for _ in range(4)))
        batch = batches[0]
        self.assertEqual(len(set((batch.codes[0] >> 8).tolist())), 3)  # two documents and the padding
        self.assertEqual(batch.tokens[0, size], TOKENIZER.bos)
        flat = batch.targets.reshape(-1)
        for answer in batch.answers:
            self.assertEqual(flat[answer.start + answer.length - 1], TOKENIZER.eos)
        self.assertEqual((flat != IGNORED).sum(), sum(answer.length for answer in batch.answers))
        padding = batch.tokens == TOKENIZER.pad
        self.assertTrue(np.all(batch.targets[padding] == IGNORED))

    def test_a_document_longer_than_a_row_loses_questions_not_its_memories(self):
        alone = len(EncodedDocument(TOKENIZER, document("text", 1)))
        (batch,) = Packer(TOKENIZER, rows=1, length=alone + 5).batches([document("text", 3)])
        self.assertEqual(len(batch.answers), 1)
