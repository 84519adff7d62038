"""Makes KV caches with transformers and kvpress, as files for dki-external, and scores answers behind them.

    python scripts/peers/make_caches.py MODEL.gguf FOLDER

Reads prompts.json from the folder, and own-N.safetensors, which our engine made. Writes METHOD-N.safetensors and peers.json: ln p of the
tokens of each answer, and of the ten likeliest next tokens. docs/methods/external-kv.md describes the files.
"""

import argparse
import json
from pathlib import Path

import torch
from kvpress import KeyDiffPress, KnormPress, LagKVPress
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, DynamicCache

LIKELIEST = 10

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("model", type=Path, help="the GGUF")
parser.add_argument("folder", type=Path, help="holds prompts.json")
given = parser.parse_args()

asked = json.loads((given.folder / "prompts.json").read_text())
model = AutoModelForCausalLM.from_pretrained(given.model.parent, gguf_file=given.model.name, dtype=torch.float32).eval()
rotary = model.model.rotary_emb
layers = range(model.config.num_hidden_layers)


def evaluate(ids, cache, start=0):
    """Evaluates tokens behind a cache, the first at a position. Returns their logits."""
    tokens = torch.tensor([ids])
    positions = torch.arange(start, start + len(ids))[None]
    return model(tokens, past_key_values=cache, position_ids=positions).logits[0]


def prefilled(ids):
    cache = DynamicCache()
    evaluate(ids, cache)
    return cache


def compressed(press, ids):
    with press(model):
        return prefilled(ids)


def rotated(keys, distance):
    """Keys [heads, cells, dimension], moved by a number of positions."""
    angles = torch.cat([rotary.inv_freq, rotary.inv_freq]).double() * distance
    half = keys.shape[-1] // 2
    turned = torch.cat([-keys[..., half:], keys[..., :half]], dim=-1)
    return (keys.double() * angles.cos() + turned.double() * angles.sin()).float()


def joined(header, lines):
    """Blocks behind the header, which do not see each other, at contiguous positions."""
    cache = prefilled(header)
    length = len(header)
    for line in lines:
        block = prefilled(header + line)
        for layer in layers:
            keys, values = (tensor[:, :, len(header) :] for tensor in cells(block, layer))
            cache.update(rotated(keys, length - len(header)), values, layer)
        length += len(line)
    return cache


def cells(cache, layer):
    return cache.layers[layer].keys, cache.layers[layer].values


def save(name, cache, positions, tokens):
    tensors = {
        "positions": torch.tensor(positions, dtype=torch.int32),
        "token_ids": torch.tensor(tokens, dtype=torch.int32),
    }
    for layer in layers:
        keys, values = cells(cache, layer)
        tensors[f"keys.{layer}"] = keys[0].contiguous().clone()
        tensors[f"values.{layer}"] = values[0].contiguous().clone()
    metadata = {
        "format": "dki-bench-kv/1",
        "model_sha256": asked["modelSha256"],
        "rope": "applied",
        "rope_base": str(model.config.rope_parameters["rope_theta"]),
        "rope_pairing": "half",
        "made_by": "transformers and kvpress",
    }
    save_file(tensors, given.folder / f"{name}.safetensors", metadata=metadata)


def load(name):
    """A cache from a file of our engine, whose pairs are interleaved."""
    tensors = load_file(given.folder / f"{name}.safetensors")
    cache = DynamicCache()
    for layer in layers:
        keys = tensors[f"keys.{layer}"].float()
        halves = torch.cat([keys[..., 0::2], keys[..., 1::2]], dim=-1)
        cache.update(halves[None], tensors[f"values.{layer}"].float()[None], layer)
    return cache


def scores(cache, start, prompt):
    question, answer = prompt["question"], prompt["answer"]
    logits = evaluate(question + answer[:-1], cache, start).double().log_softmax(-1)
    following = logits[len(question) - 1 :]
    top = following[0].topk(LIKELIEST)
    return {
        "answer": [following[index, token].item() for index, token in enumerate(answer)],
        "next": [[token, value] for token, value in zip(top.indices.tolist(), top.values.tolist())],
    }


def kept(whole, part):
    """Indices of the cells of each head that a compressed cache kept: [layer][head]."""
    found = []
    for layer in layers:
        all_keys, keys = cells(whole, layer)[0][0], cells(part, layer)[0][0]
        found.append([torch.cdist(own, every).argmin(-1).tolist() for own, every in zip(keys, all_keys)])
    return found


def agreement(ours, theirs):
    """Share of kept tokens that two selections have in common."""
    pairs = [(set(a), set(b)) for one, other in zip(ours, theirs) for a, b in zip(one, other)]
    return sum(len(a & b) for a, b in pairs) / sum(len(b) for _, b in pairs)


@torch.no_grad()
def run(number, prompt):
    header, lines = prompt["header"], prompt["lines"]
    prefix = header + [token for line in lines for token in line]
    length = len(prefix)
    ratio = asked["ratio"]
    presses = {
        "knorm": KnormPress(ratio),
        "keydiff": KeyDiffPress(ratio),
        "lagkv": LagKVPress(ratio, n_sink=0, lag_size=prompt["lag"]),
    }
    whole = prefilled(prefix)
    save(f"full-{number}", whole, list(range(length)), prefix)
    blocks = joined(header, lines)
    save(f"blocks-{number}", blocks, list(range(length)), prefix)
    result = {}
    selected = {}
    for name, press in presses.items():
        part = compressed(press, prefix)
        count = cells(part, 0)[0].shape[2]
        save(f"{name}-{number}", part, list(range(length - count, length)), [-1] * count)
        selected[name] = agreement(kept(load(f"own-{number}"), load(f"own-{name}-{number}")), kept(whole, part))
        result[name] = scores(part, length, prompt)
    result["own"] = scores(load(f"own-{number}"), length, prompt)
    # Last: scoring adds the question to a cache.
    result["full"] = scores(whole, length, prompt)
    result["blocks"] = scores(blocks, length, prompt)
    return {"scores": result, "selected": selected}


results = [run(number, prompt) for number, prompt in enumerate(asked["prompts"])]
(given.folder / "peers.json").write_text(json.dumps(results))
