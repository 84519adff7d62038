"""Writes a GGUF of the llama family as a folder that vLLM serves: weights without quantisation, config and tokenizer.

    "$(dirname "$(scripts/engines/vllm.sh)")"/bin/python scripts/engines/gguf_to_safetensors.py MODEL.gguf FOLDER
"""

import argparse
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("model", type=Path, help="the GGUF")
parser.add_argument("folder", type=Path, help="is made, and must not be there")
given = parser.parse_args()

if not given.model.is_file():
    parser.error(f"{given.model}: no such file")
if given.folder.exists():
    parser.error(f"{given.folder} is there already")
source, name = given.model.parent, given.model.name
model = AutoModelForCausalLM.from_pretrained(source, gguf_file=name, dtype=torch.float32)
tokenizer = AutoTokenizer.from_pretrained(source, gguf_file=name)
# What was read has been dequantised; saved as it is described it would be refused as quantised.
model.hf_quantizer = None
model.is_quantized = False
del model.config.quantization_config
model.save_pretrained(given.folder)
tokenizer.save_pretrained(given.folder)
print(f"{given.folder}: {model.num_parameters():,} parameters")
