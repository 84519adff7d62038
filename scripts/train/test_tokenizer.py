"""The tokenizer: lossless on any text, digits apart, the same after writing and reading."""
import tempfile
import unittest
from pathlib import Path

from test_packing import TOKENIZER
from tokenizer import SPECIALS, VOCABULARY_SIZE, WORDS, Tokenizer, learn

TEXTS = [
    "My dog is called Brenko.\n",
    "  two  spaces\n\n\nend ",
    "naïve café 你好，世界 😀 ½ ² ٣",
    "I'm you're it's 12345abc x_y-z (ok) #1 $2.50!\t\ttab\u00a0\u3000.",
    "\x00\x1c<s></s><|pad|>",
    "",
]


class TokenizerTest(unittest.TestCase):
    def setUp(self):
        self.tokenizer = learn(TEXTS * 3 + ["banana bandana 2024 2024 2024"] * 9, 300)

    def test_round_trip(self):
        for text in TEXTS:
            self.assertEqual(self.tokenizer.decode(self.tokenizer.encode(text)), text)

    def test_text_never_becomes_a_special_token(self):
        self.assertTrue(all(token >= len(SPECIALS) for token in self.tokenizer.encode("<s></s><|pad|>")))

    def test_digits_are_not_merged(self):
        self.assertEqual(len(self.tokenizer.encode("2024")), 4)

    def test_frequent_pairs_are_merged_in_order_of_rank(self):
        self.assertLess(len(self.tokenizer.encode("banana bandana")), len("banana bandana"))
        self.assertEqual(len(TOKENIZER.encode("banana")), 6)

    def test_words_split_as_in_gpt2(self):
        self.assertEqual(WORDS.findall("it's  two 12ab_\n\nx"), ["it", "'s", " ", " two", " 12", "ab", "_", "\n", "\n", "x"])
        self.assertEqual(WORDS.findall("end  "), ["end", "  "])

    def test_write_and_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tokenizer.json"
            self.tokenizer.write(path)
            again = Tokenizer.read(path)
        self.assertEqual(again.tokens, self.tokenizer.tokens)
        self.assertEqual(again.merges, self.tokenizer.merges)

    def test_the_shipped_vocabulary(self):
        shipped = Tokenizer.read()
        self.assertEqual(len(shipped.tokens), VOCABULARY_SIZE)
        self.assertEqual((shipped.bos, shipped.eos, shipped.pad), (0, 1, 2))
        self.assertEqual(len(shipped.encode(" called")), 1)
