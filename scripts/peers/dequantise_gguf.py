"""Writes a GGUF with the same weights in 32-bit floats.

    python scripts/peers/dequantise_gguf.py MODEL.gguf MODEL-f32.gguf
"""

import argparse
from pathlib import Path

import numpy as np
from gguf import GGUFReader, GGUFValueType, GGUFWriter, LlamaFileType, dequantize

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("model", type=Path, help="the GGUF")
parser.add_argument("target", type=Path, help="file to write")
given = parser.parse_args()

reader = GGUFReader(given.model)
writer = GGUFWriter(given.target, reader.fields["general.architecture"].contents())
for name, field in reader.fields.items():
    if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type"):
        continue
    kind, *inner = field.types
    writer.add_key_value(name, field.contents(), kind, inner[-1] if kind == GGUFValueType.ARRAY else None)
writer.add_file_type(LlamaFileType.ALL_F32)
for tensor in reader.tensors:
    writer.add_tensor(tensor.name, dequantize(tensor.data, tensor.tensor_type).astype(np.float32))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
print(f"{given.target}: {given.target.stat().st_size:,} bytes")
