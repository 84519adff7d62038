"""The sentence embedder: a BERT of two layers, trained to put a question next to the memory that answers it.

Each step takes 256 memories of one user and their questions, in one language or across: the other memories, which share
subjects and relations with the right one, are its negatives. Writes models/embed-en-zh/ in the form that transformers.js loads:
mean pooling over the attention mask, then unit length. `scripts/models/evaluate-embedder.ts` judges it.
"""
import argparse
import json
import random
import time
from pathlib import Path
from typing import List, Tuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from dialogue_stream import ROOT, dialogues
from tokenizer import BOS, EOS, MODELS, PAD, Tokenizer

FOLDER = MODELS / "embed-en-zh"
STEPS = 3000
PAIRS = 256
LEARNING_RATE = 2e-3
WARM_UP_STEPS = 100
SHARPNESS = 20.0  # 1 / temperature of the contrastive loss
SHIFTED_SHARE = 0.3
MIXED_SHARE = 0.25
WIDTH, LAYERS, HEADS, HIDDEN, LENGTH = 128, 2, 4, 256, 512


class Layer(nn.Module):
    """BERT's layer: attention and a two-layer perceptron, each followed by LayerNorm over the sum."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.rise, self.fall = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)
        self.attention_norm, self.mlp_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """x [texts, length, width], bias [texts, 1, 1, length] -> like x."""
        texts, length, _ = x.shape
        query, key, value = self.qkv(x).reshape(texts, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4).unbind(0)
        scores = query @ key.transpose(-1, -2) * (WIDTH // HEADS) ** -0.5 + bias
        mixed = (scores.softmax(-1) @ value).permute(0, 2, 1, 3).reshape(texts, length, WIDTH)
        x = self.attention_norm(x + self.out(mixed))
        return self.mlp_norm(x + self.fall(torch.relu(self.rise(x))))


class Encoder(nn.Module):
    """Token ids to hidden states; texts of up to 512 tokens."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        nn.init.normal_(self.tokens.weight, std=0.05)
        nn.init.normal_(self.positions.weight, std=0.02)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """All three [texts, length] int64 -> [texts, length, width]. transformers.js passes `token_type_ids`, which count
        for nothing here."""
        return self.hidden(input_ids, attention_mask) + 0.0 * token_type_ids[:, :, None].float()

    def hidden(self, ids: Tensor, mask: Tensor, first: int = 0) -> Tensor:
        """ids, mask [texts, length] int64, the first token at position `first` -> [texts, length, width]."""
        bias = (1.0 - mask[:, None, None, :].float()) * -1e9
        x = self.norm(self.tokens(ids) + self.positions(torch.arange(first, first + ids.shape[1]))[None])
        for layer in self.layers:
            x = layer(x, bias)
        return x


class TextEncoder:
    """An encoder with its tokenizer: texts in, unit vectors out."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.encoder = Encoder(len(tokenizer.tokens))

    def inputs(self, texts: List[str]) -> Tuple[Tensor, Tensor, Tensor]:
        """What the ONNX model takes: ids with BOS and EOS, mask, token types; padded to the longest text."""
        tokenizer = self.tokenizer
        rows = [[tokenizer.bos, *tokenizer.encode(text), tokenizer.eos][:LENGTH] for text in texts]
        ids = torch.full((len(rows), max(map(len, rows))), tokenizer.pad)
        mask = torch.zeros_like(ids)
        for row, tokens in enumerate(rows):
            ids[row, : len(tokens)] = torch.tensor(tokens)
            mask[row, : len(tokens)] = 1
        return ids, mask, torch.zeros_like(ids)

    def embed(self, texts: List[str], shift: float = 0.0) -> Tensor:
        """[texts, width]. A `shift` of 0 starts the texts at the first position, one of 1 ends them at the last."""
        ids, mask, _ = self.inputs(texts)
        first = int(shift * (LENGTH - ids.shape[1]))
        weight = mask[:, :, None].float()
        hidden = self.encoder.hidden(ids, mask, first)
        return normalize((hidden * weight).sum(1) / weight.sum(1), dim=-1)


def mixed(memories: List[str], others: List[str], chance: random.Random) -> List[str]:
    """Puts some memories between sentences of somebody else: a memory may say more than what it is asked for."""
    texts = []
    for memory in memories:
        if chance.random() < MIXED_SHARE:
            sentences = [memory, *chance.sample(others, chance.randint(1, 2))]
            chance.shuffle(sentences)
            memory = " ".join(sentences)
        texts.append(memory)
    return texts


def train(model: TextEncoder, steps: int, seed: int) -> None:
    optimizer = torch.optim.AdamW(model.encoder.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.98), weight_decay=0.01)
    chance, began = random.Random(seed), time.time()
    others: List[str] = []
    with dialogues("--pairs", "--pair-count", str(PAIRS), "--seed", str(seed), "--count", str(steps)) as users:
        for step, user in enumerate(users, start=1):
            # The texts are short. Starting some further back teaches the later positions too.
            shift = chance.random() if chance.random() < SHIFTED_SHARE else 0.0
            texts = mixed(user["memories"], others, chance) if others else user["memories"]
            others = user["memories"]
            memories, questions = model.embed(texts, shift), model.embed(user["questions"])
            scores = SHARPNESS * questions @ memories.t()
            right = torch.arange(len(scores))
            loss = (cross_entropy(scores, right) + cross_entropy(scores.t(), right)) / 2
            for group in optimizer.param_groups:
                group["lr"] = LEARNING_RATE * min(1, step / WARM_UP_STEPS) * max(0.02, 1 - step / steps)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 100 == 0:
                top = float((scores.argmax(1) == right).float().mean())
                print(f"step {step} minute {(time.time() - began) / 60:.1f} loss {loss:.3f} first {top:.3f}", flush=True)


def export(model: TextEncoder, folder: Path) -> None:
    """Writes what transformers.js reads, and how tokens are pooled, as sentence-transformers says it."""
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    fresh = folder / "onnx" / "model.fresh"
    torch.onnx.export(
        model.encoder.eval(),
        model.inputs(["The user lives in Paris.", "Where do I live?"]),
        str(fresh),
        input_names=names,
        output_names=["last_hidden_state"],
        dynamic_axes={name: {0: "batch", 1: "sequence"} for name in [*names, "last_hidden_state"]},
        opset_version=13,
    )
    fresh.replace(folder / "onnx" / "model.onnx")
    model.tokenizer.write(folder / "tokenizer.json")
    config = {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "vocab_size": len(model.tokenizer.tokens),
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": HIDDEN,
        "hidden_act": "relu",
        "max_position_embeddings": LENGTH,
        "type_vocab_size": 2,
        "pad_token_id": model.tokenizer.pad,
    }
    tokenizer_config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": LENGTH,
        "bos_token": BOS,
        "eos_token": EOS,
        "pad_token": PAD,
        "clean_up_tokenization_spaces": False,
    }
    pooling = {"word_embedding_dimension": WIDTH, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling").mkdir(exist_ok=True)
    files = {"config.json": config, "tokenizer_config.json": tokenizer_config, "1_Pooling/config.json": pooling}
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=2) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS, help="256 memories and 256 questions each")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    model = TextEncoder(Tokenizer.read())
    train(model, arguments.steps, arguments.seed)
    checkpoint = ROOT / "build" / "train" / "embedder.pt"
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    torch.save(model.encoder.state_dict(), checkpoint)
    export(model, FOLDER)
    print(f"{FOLDER}: {(FOLDER / 'onnx' / 'model.onnx').stat().st_size} bytes")


if __name__ == "__main__":
    main()
