#!/usr/bin/env bash
# Compares our engine with transformers and kvpress on SmolLM2, with its weights in 32-bit floats (at most .03 in ln p) and as they
# ship, and prints two tables, which docs/exactness.md sums up. Brings transformers and kvpress from the Python index into the cache
# of the bench (6 GB with torch, some minutes).
set -euo pipefail
cd "$(dirname "$0")/../.."
PATH="$PWD/node_modules/.bin:$PATH"

cache=${DKI_BENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dki-bench}
python=${PEERS_PYTHON:-$cache/peers/bin/python}
if [ ! -x "$python" ]; then
  python3 -m venv "$cache/peers"
  "$cache/peers/bin/pip" install --quiet kvpress==0.5.5 gguf==0.19.0 torch==2.15.0 transformers==5.2.0 ||
    { rm -rf "$cache/peers"; exit 1; }
fi

scripts/real-models.sh smollm2-135m
model=$(node dist/cli/main.js models list --json | node -e '
  const models = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  console.log(models.find(({ name }) => name === "smollm2-135m").path);')
single=$(mktemp -d)/smollm2-135m-f32.gguf
trap 'rm -rf "$(dirname "$single")"' EXIT
"$python" scripts/peers/dequantise_gguf.py "$model" "$single"
# With quantised weights, llama.cpp also rounds activations to 8 bits: no bound.
tsx scripts/peers/compare-peers.ts --model "$single" --python "$python" --bound .03 "$@"
tsx scripts/peers/compare-peers.ts --model "$model" --python "$python" "$@"
