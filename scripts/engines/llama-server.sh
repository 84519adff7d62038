#!/usr/bin/env bash
# Brings llama.cpp's own server, from a Python package by pip, into the cache of the bench: nothing is installed elsewhere.
# Prints the path of the program, for --llama-server.
set -euo pipefail
cd "$(dirname "$0")"

version=2026.10.11549
cache=${DKI_BENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dki-bench}
folder=$cache/engines/llama-server
program=$folder/llama-server

if [ ! -x "$program" ] || [ "$(cat "$folder/version" 2>/dev/null)" != "$version" ]; then
  if ! python3 -m pip --version >/dev/null 2>&1; then
    echo "error: python3 has no pip, which brings llama.cpp's server" >&2
    echo "  hint: apt-get install python3-pip, or name a llama-server of your own: --llama-server PATH" >&2
    exit 1
  fi
  mkdir -p "$folder"
  scratch=$(mktemp -d "$folder/new-XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --target "$scratch/lib" "xllamacpp==$version"
  rm -rf "$folder/lib"
  mv "$scratch/lib" "$folder/lib"
  cp llama_server.py "$folder/llama_server.py"
  cat >"$scratch/llama-server" <<'LAUNCHER'
#!/bin/sh
folder=$(dirname "$(readlink -f "$0")")
PYTHONPATH=$folder/lib exec python3 "$folder/llama_server.py" "$@"
LAUNCHER
  chmod +x "$scratch/llama-server"
  mv "$scratch/llama-server" "$program"
  echo "$version" >"$folder/version"
fi
echo "$program"
