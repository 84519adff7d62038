"""Greedy answers of a checkpoint: `answers.py STAGE` reads one JSON list of segment texts a line, writes a JSON text a line."""
import json
import sys
from typing import List

import torch

from checkpoints import read_checkpoint
from model import RecallModel
from tokenizer import Tokenizer

MOST_TOKENS = 48


def answer(model: RecallModel, tokenizer: Tokenizer, segments: List[str]) -> str:
    """What the model says behind the segments, up to the end of text or of the line."""
    tokens = tokenizer.encode_all(segments)
    said: List[int] = []
    while len(said) < MOST_TOKENS:
        ids = torch.tensor([tokens + said], dtype=torch.int32)
        positions = torch.arange(ids.shape[1], dtype=torch.int32)[None]
        logits = model.logits(ids, torch.zeros_like(ids), positions, torch.tensor([ids.shape[1] - 1]))
        token = int(logits[0].argmax())
        if token == tokenizer.eos or "\n" in tokenizer.decode([token]):
            break
        said.append(token)
    return tokenizer.decode(said)


if __name__ == "__main__":
    torch.set_num_threads(1)
    tokenizer = Tokenizer.read()
    model = RecallModel.from_state(read_checkpoint(sys.argv[1])["model"])
    with torch.no_grad():
        for line in sys.stdin:
            print(json.dumps(answer(model, tokenizer, json.loads(line))), flush=True)
