"""Byte-level BPE: learns the vocabulary of both models, and reads and writes it as a Hugging Face `tokenizer.json`.

`python3 scripts/train/tokenizer.py` learns it from the dialogue stream. Token ids equal those of llama.cpp
(`tokenizer.ggml.model = gpt2`, `tokenizer.ggml.pre = gpt-2`) and of transformers.js.
"""
import json
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path
from typing import Dict, Iterable, List, Tuple

VOCABULARY_SIZE = 2304
TRAINING_DOCUMENTS = 6000
BOS, EOS, PAD = "<s>", "</s>", "<|pad|>"
SPECIALS = [BOS, EOS, PAD, *(f"<|reserved_{n}|>" for n in range(5))]
MODELS = Path(__file__).resolve().parents[2] / "models"
TOKENIZER_FILE = MODELS / "tokenizer.json"

Pair = Tuple[str, str]


def _character_class(initial: str) -> str:
    """The Unicode general categories that start with `initial`, as the inside of a character class."""
    ranges: List[List[int]] = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code))[0] != initial:
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


def _gpt2_pattern() -> "re.Pattern[str]":
    """GPT-2's pre-tokeniser, whose Unicode classes Python's `re` lacks."""
    letter, number = _character_class("L"), _character_class("N")
    space = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
    return re.compile(
        f"'s|'t|'re|'ve|'m|'ll|'d| ?[{letter}]+| ?[{number}]+| ?[^{space}{letter}{number}]+"
        f"|[{space}]+(?![^{space}])|[{space}]+"
    )


def _byte_symbols() -> List[str]:
    """GPT-2's printable stand-in for each byte."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


WORDS = _gpt2_pattern()
CHINESE = re.compile("([\u4e00-\u9fff])")
FIRST_OF_ALL = 10**6
SYMBOLS = _byte_symbols()
BYTES = {symbol: byte for byte, symbol in enumerate(SYMBOLS)}


class Tokenizer:
    """A vocabulary and its merges. Text never becomes a special token, whatever it spells."""

    def __init__(self, vocabulary: Dict[str, int], merges: List[Pair]):
        self.tokens = sorted(vocabulary, key=vocabulary.get)
        self.merges = merges
        self.bos, self.eos, self.pad = (vocabulary[token] for token in (BOS, EOS, PAD))
        self._ids = vocabulary
        self._ranks = {pair: rank for rank, pair in enumerate(merges)}
        self._words: Dict[str, List[int]] = {}

    @classmethod
    def read(cls, path: Path = TOKENIZER_FILE) -> "Tokenizer":
        model = json.loads(path.read_text("utf-8"))["model"]
        return cls(model["vocab"], [tuple(merge.split(" ")) for merge in model["merges"]])

    def encode(self, text: str) -> List[int]:
        """The ids of `text`, without beginning or end."""
        return [token for word in WORDS.findall(text) for token in self._encode_word(word)]

    def encode_all(self, segments: Iterable[str]) -> List[int]:
        """The ids of segments, each tokenised alone, behind BOS."""
        return [self.bos, *(token for text in segments for token in self.encode(text))]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids`; special tokens have none."""
        symbols = "".join(self.tokens[token] for token in ids if token >= len(SPECIALS))
        return bytes(BYTES[symbol] for symbol in symbols).decode("utf-8", "replace")

    def _encode_word(self, word: str) -> List[int]:
        known = self._words.get(word)
        if known is not None:
            return known
        parts = [SYMBOLS[byte] for byte in word.encode("utf-8")]
        unknown = len(self._ranks)
        while len(parts) > 1:
            rank, at = min((self._ranks.get(pair, unknown), at) for at, pair in enumerate(zip(parts, parts[1:])))
            if rank == unknown:
                break
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        ids = [self._ids[part] for part in parts]
        if len(self._words) < 200_000:
            self._words[word] = ids
        return ids

    def write(self, path: Path) -> None:
        """Writes the `tokenizer.json` that transformers.js reads; it puts BOS and EOS around a text, for the embedder."""
        special = {token: {"id": token, "ids": [self._ids[token]], "tokens": [token]} for token in (BOS, EOS)}
        bos, eos = ({"SpecialToken": {"id": token, "type_id": 0}} for token in (BOS, EOS))
        text, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
        byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
        document = {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],  # else a reader would let a text spell a special token
            "normalizer": None,
            "pre_tokenizer": byte_level,
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [bos, text, eos],
                "pair": [bos, text, eos, second, eos],
                "special_tokens": special,
            },
            "decoder": byte_level,
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": None,
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": False,
                "vocab": {token: number for number, token in enumerate(self.tokens)},
                "merges": [" ".join(pair) for pair in self.merges],
            },
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", "utf-8")


def learn(texts: Iterable[str], size: int) -> Tokenizer:
    """Merges the most frequent pair until there are `size` tokens. Digits stay single: a number is read digit by digit.
    So do Chinese characters, each of which becomes a token: a value then reads the same wherever it stands."""
    frequency = Counter(
        piece
        for text in texts
        for word in WORDS.findall(text)
        if not any(character.isdigit() for character in word)
        for piece in CHINESE.split(word)
        if piece
    )
    for piece in frequency:
        if CHINESE.fullmatch(piece):
            frequency[piece] += FIRST_OF_ALL
    words = [[SYMBOLS[byte] for byte in word.encode("utf-8")] for word in frequency]
    counts = list(frequency.values())
    pairs: Counter = Counter()
    places = defaultdict(set)
    for number, word in enumerate(words):
        for pair in zip(word, word[1:]):
            pairs[pair] += counts[number]
            places[pair].add(number)
    tokens, merges = [*SPECIALS, *SYMBOLS], []
    while len(tokens) < size:
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        tokens.append("".join(best))
        for number in list(places[best]):
            word = words[number]
            for pair in zip(word, word[1:]):
                pairs[pair] -= counts[number]
                places[pair].discard(number)
            words[number] = word = _merge(word, best)
            for pair in zip(word, word[1:]):
                pairs[pair] += counts[number]
                places[pair].add(number)
        del pairs[best]
    return Tokenizer({token: number for number, token in enumerate(tokens)}, merges)


def _merge(word: List[str], pair: Pair) -> List[str]:
    merged: List[str] = []
    for symbol in word:
        # A symbol that was itself just merged is longer than the pair's first half, so it cannot merge again.
        if merged and merged[-1] == pair[0] and symbol == pair[1]:
            merged[-1] = pair[0] + pair[1]
        else:
            merged.append(symbol)
    return merged


def main() -> None:
    from dialogue_stream import dialogues

    texts: List[str] = []
    with dialogues("--level", "4", "--seed", "1", "--count", str(TRAINING_DOCUMENTS)) as documents:
        for document in documents:
            texts += document["header"] + document["memories"]
            for question in document["questions"]:
                texts += [*question["suffix"], question["answer"]]
    learn(texts, VOCABULARY_SIZE).write(TOKENIZER_FILE)
    print(f"{TOKENIZER_FILE}: {VOCABULARY_SIZE} tokens from {len(texts)} segments")


if __name__ == "__main__":
    main()
