"""TokenSubstitution: what changes, what stays, and that nothing is said differently in two places."""
import re
import unittest

from packing import EncodedDocument
from token_substitution import TokenSubstitution
from tokenizer import Tokenizer

TOKENIZER = Tokenizer.read()
SUBSTITUTION = TokenSubstitution(TOKENIZER, 0.4)


def document(number):
    """One of many documents that differ in a number which no word depends on."""
    return {
        "layout": "text",
        "header": ["You are a helpful assistant.\n"],
        "memories": [f"[1] My street is called Lake Wigek. {number}\n", "[2] 黄稻的居住城市是思棠湾。\n", "[3] My party is on May 3.\n"],
        "questions": [
            {"suffix": ["User: What is the name of my street?\n", "AI:"], "answer": " Lake Wigek.", "kind": "plain"},
            {"suffix": ["User: 黄稻的居住城市呢？\n", "AI:"], "answer": " 思棠湾。", "kind": "other"},
            {"suffix": ["User: What is my dog called?\n", "AI:"], "answer": " I don't know.", "kind": "absent"},
        ],
    }


class TokenSubstitutionTest(unittest.TestCase):
    def setUp(self):
        self.documents = [document(number) for number in range(400)]
        self.encoders = [SUBSTITUTION.encoder(one) for one in self.documents]

    def test_some_documents_stay_as_they_are_and_the_others_differ(self):
        changed = sum(
            any(encode(text) != TOKENIZER.encode(text) for text in one["memories"])
            for one, encode in zip(self.documents, self.encoders)
        )
        self.assertTrue(0.2 < changed / len(self.documents) < 0.5)

    def test_an_answer_still_stands_in_its_memory(self):
        strange = 0
        for one, encode in zip(self.documents, self.encoders):
            for memory, question in zip(one["memories"][:2], one["questions"]):
                value = encode(question["answer"])[:-1]
                told = encode(memory)
                tail = value[1:] if question["kind"] == "other" else value  # 思 follows 是, not a space
                self.assertIn(tail, [told[at : at + len(tail)] for at in range(len(told))])
                strange += value != TOKENIZER.encode(question["answer"])[:-1]
        self.assertGreater(strange, 20)

    def test_absence_dates_and_speakers_stay(self):
        for one, encode in zip(self.documents, self.encoders):
            for text in (one["questions"][2]["answer"], "AI:", "User:", " May 3.", "[1]", " 我不知道。"):
                self.assertEqual(encode(text), TOKENIZER.encode(text))

    def test_no_two_words_become_one(self):
        for one, encode in zip(self.documents, self.encoders):
            texts = [*one["memories"], *(text for question in one["questions"] for text in question["suffix"])]
            before = {token for text in texts for token in TOKENIZER.encode(text)}
            after = [tuple(encode(TOKENIZER.decode([token]))) for token in before if self.is_word(token)]
            self.assertEqual(len(set(after)), len(after))

    def test_a_document_is_substituted_alike_each_time(self):
        for one, encode in zip(self.documents, self.encoders):
            again = SUBSTITUTION.encoder(one)
            self.assertEqual([encode(text) for text in one["memories"]], [again(text) for text in one["memories"]])

    def test_the_header_stays(self):
        header = TOKENIZER.encode(self.documents[0]["header"][0])
        for one, encode in zip(self.documents, self.encoders):
            self.assertEqual(EncodedDocument(TOKENIZER, one, encode).tokens[1 : 1 + len(header)], header)

    @staticmethod
    def is_word(token):
        text = TOKENIZER.decode([token])
        return bool(re.fullmatch(r" ?[A-Za-z]+|[\u4e00-\u9fff]", text)) and TOKENIZER.encode(text) == [token]
