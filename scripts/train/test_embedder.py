"""The embedder: what padding, position and length may and may not change."""
import unittest

import torch

from embedder import LENGTH, TextEncoder
from tokenizer import Tokenizer


class TextEncoderTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.model = TextEncoder(Tokenizer.read())

    def embed(self, *texts):
        with torch.no_grad():
            return self.model.embed(list(texts))

    def test_a_text_does_not_feel_the_padding_beside_a_longer_one(self):
        alone, beside = self.embed("A dog.")[0], self.embed("A dog.", "A much longer text about a dog and a cat.")[0]
        torch.testing.assert_close(alone, beside)

    def test_word_order_counts(self):
        a, b = self.embed("Anna knows Ben.", "Ben knows Anna.")
        self.assertGreater(float((a - b).abs().max()), 1e-4)

    def test_vectors_have_unit_length_and_long_texts_are_cut(self):
        long = self.embed("dog " * 2 * LENGTH)[0]
        self.assertAlmostEqual(float(long.norm()), 1.0, places=5)
        self.assertEqual(self.model.inputs(["dog " * 2 * LENGTH])[0].shape[1], LENGTH)

    def test_token_types_count_for_nothing(self):
        ids, mask, types = self.model.inputs(["A dog."])
        with torch.no_grad():
            self.assertTrue(torch.equal(self.model.encoder(ids, mask, types), self.model.encoder(ids, mask, types + 1)))
