"""Strange words in place of some of a document's, the same ones wherever they stand.

What memories and questions say of each other stays as it was, so that the answer is still a matter of reading; but every
part of the vocabulary, and Chinese characters that are spelled in bytes, come to be read and copied, and wordings that
are in part unknown. Without this the model fails at values that hold a token which training never showed it.
"""
import json
import re
from random import Random
from typing import Dict, Iterable, List, Optional, Set
from zlib import crc32

from packing import Encode
from tokenizer import CHINESE, MODELS, Tokenizer

SHARED, ALONE = (0.05, 0.1, 0.2), (0.0, 0.0, 0.05, 0.15)
"""How many of the words change that memories and questions have in common, and of those that stand in one of them alone."""
SPELLED = 0.5
"""How many strange words are two tokens, and strange Chinese characters any common one; the others are of the vocabulary."""

Tokens = List[int]


def _texts(part: object) -> Iterable[str]:
    """All strings within a part of a grammar."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, (dict, list)):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from _texts(inner)


class TokenSubstitution:
    """Draws the strange words of `share` of the documents; they depend on a document's text alone."""

    def __init__(self, tokenizer: Tokenizer, share: float):
        self._tokenizer, self._share = tokenizer, share
        self._kinds: Dict[str, List[int]] = {"chinese": [], "word": [], "inner": []}
        self._kind_of: Dict[int, str] = {}
        for token, spelled in enumerate(tokenizer.tokens):
            kind = self._kind(token, spelled)
            if kind is not None:
                self._kinds[kind].append(token)
                self._kind_of[token] = kind
        self._fixed = self._closed_class()

    def encoder(self, document: Dict) -> Encode:
        """How the memories and the questions of `document` are tokenised."""
        encode = self._tokenizer.encode
        random = Random(crc32("".join(document["memories"]).encode("utf-8")))
        if random.random() >= self._share:
            return encode
        memories = {token for text in document["memories"] for token in encode(text)}
        questions: Set[int] = set()
        for question in document["questions"]:
            for text in (*question["suffix"], question["answer"]):
                questions.update(encode(text))
        shared, alone = random.choice(SHARED), random.choice(ALONE)
        strange: Dict[int, Tokens] = {}
        taken = memories | questions
        for token in sorted(taken - self._fixed):
            share = shared if token in memories and token in questions else alone
            if token in self._kind_of and random.random() < share:
                strange[token] = self._draw(random, self._kind_of[token], taken)
                taken.update(strange[token])
        return lambda text: [put for token in encode(text) for put in strange.get(token, (token,))]

    def _draw(self, random: Random, kind: str, taken: Set[int]) -> Tokens:
        while True:
            if kind == "chinese" and random.random() < SPELLED:
                # The common characters of GB 2312 stand in rows 16 to 55.
                drawn = bytes((random.randint(0xB0, 0xD6), random.randint(0xA1, 0xFE))).decode("gb2312")
                tokens = self._tokenizer.encode(drawn)
            else:
                tokens = [random.choice(self._kinds[kind])]
                if kind != "chinese" and random.random() < SPELLED:
                    tokens.append(random.choice(self._kinds["inner"]))
            if not taken.issuperset(tokens):
                return tokens

    def _kind(self, token: int, spelled: str) -> Optional[str]:
        if CHINESE.fullmatch(self._tokenizer.decode([token])):
            return "chinese"
        if re.fullmatch("Ġ[A-Za-z]+", spelled):
            return "word"
        return "inner" if re.fullmatch("[A-Za-z]+", spelled) else None

    def _closed_class(self) -> Set[int]:
        """The tokens of what tells one speaker, person, date or list from another, which mean the same in every document."""
        fixed: Set[int] = set()
        for path in (MODELS.parent / "datasets").glob("grammar-*.json"):
            grammar = json.loads(path.read_text("utf-8"))
            parts = [grammar[key] for key in ("voices", "unknownAnswer", "months", "date", "roles")]
            for text in ("User:", "AI:", *_texts([*parts, grammar["tasks"]["listing"], grammar["tasks"]["sharedName"]])):
                fixed.update(self._tokenizer.encode(text))
                fixed.update(self._tokenizer.encode(f" {text}"))
        return fixed
