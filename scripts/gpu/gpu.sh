#!/usr/bin/env bash
# Tries a Linux machine with an NVIDIA card and CUDA 13, but without a network and without Node: the contract of the engine's port,
# suite `length` up to 32,000 tokens, and a bench of 60 questions, within nine minutes. Nothing depends on its results.
#
#   npm run gpu:install -- cuda && scripts/real-models.sh      here, once: the CUDA packages and SmolLM2
#   scripts/gpu/gpu.sh pack FOLDER      here: writes what the machine needs into FOLDER, in pieces, and says how many there are
#   scripts/gpu/gpu.sh add PIECE        there, once for each piece, in their order
#   scripts/gpu/gpu.sh run FOLDER       there: unpacks, runs, and leaves five files in FOLDER: JSON, and a log
#   scripts/gpu/gpu.sh rehearse FOLDER  here: all of that on the CPU, without the CUDA packages, at tiny sizes
#
# A piece and the working tree have 64 MiB together, or DKI_BENCH_GPU_CALL_MIB, as far as a machine takes no more in one call.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
call_mib=${DKI_BENCH_GPU_CALL_MIB:-64}
unpacked=${DKI_BENCH_GPU_FOLDER:-/tmp/dki-bench-gpu}
gpu=${DKI_BENCH_GPU:-cuda}
model=smollm2-135m
shape=random:qwen2.5-0.5b
lengths=(1024,2048,4096,8000 1024,2048,4096,8192,16384,32000)
questions=60
# A rehearsal may share its processor: its steps may take so many times as long.
patience=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Large packages for development, and those for other machines: nothing here loads them.
unused=(onnxruntime-node typescript prettier knip typedoc playwright-core drizzle-kit @node-llama-cpp/linux-arm64
  @node-llama-cpp/linux-armv7l @arethetypeswrong @electric-sql @shikijs @xenova @img @typescript-eslint @babel node/node_modules)

fail() {
  echo "gpu.sh: $1" >&2
  exit 2
}

pack() {
  local folder=$1 tree_kib piece_mib kernels
  cd "$root"
  PATH="$root/node_modules/.bin:$PATH"
  [ "$gpu" = off ] || [ -d node_modules/@node-llama-cpp/linux-x64-cuda-ext/bins ] ||
    fail "no CUDA packages: npm run gpu:install -- cuda"
  tree_kib=$(git ls-files -z | du -ck --files0-from=- | tail -1 | cut -f1)
  piece_mib=$((call_mib - 1 - tree_kib / 1024))
  [ "$piece_mib" -gt 0 ] || fail "the working tree leaves no space for a piece: raise DKI_BENCH_GPU_CALL_MIB"
  npm run -s build
  kernels=$(find build -maxdepth 1 -name kv-kernels)
  cp -L "$(node dist/cli/main.js models list --json | file_of_model)" "$scratch/model.gguf"
  mkdir -p "$folder"
  rm -f "$folder"/piece-*
  git ls-files -z src test scripts models datasets migrations package.json 'tsconfig*.json' vitest.config.ts |
    tar -cz --null --files-from=- "${unused[@]/#/--exclude=node_modules/}" dist $kernels node_modules \
      -C "$scratch" model.gguf |
    split -b "${piece_mib}M" -d -a 3 - "$folder/piece-"
  echo "$(ls "$folder" | grep -c '^piece-') pieces of at most $piece_mib MiB, $(du -sm "$folder" | cut -f1) MiB together: as many calls, and one to run"
}

# The file of the model, from the JSON of `models list`.
file_of_model() {
  node -e '
    const [model] = JSON.parse(require("node:fs").readFileSync(0, "utf8")).filter(({ name }) => name === process.argv[1]);
    if (model.missing.length > 0) throw new Error(`the cache lacks ${model.name}: scripts/real-models.sh brings it`);
    console.log(model.path);' "$model"
}

add() {
  mkdir -p "$unpacked"
  cat "$1" >>"$unpacked/pack.tgz"
}

# Runs one step with a limit in seconds, and appends its output to a file. A step that fails does not keep the others from running.
try() {
  local name=$1 limit=$2 output=$3 begun=$SECONDS outcome=0
  shift 3
  echo "== $name" >>"$out/log"
  timeout "$((limit * patience))" "$@" >>"$output" 2>>"$out/log" || outcome=$?
  echo "$name: exit $outcome after $((SECONDS - begun)) s" | tee -a "$out/log"
}

run() {
  mkdir -p "$1"
  out=$(cd "$1" && pwd)
  cd "$unpacked"
  tar -xzf pack.tgz
  PATH="$unpacked/node_modules/.bin:$PATH"
  # CUDA's libraries may be where the linker does not look, such as in a package of Python.
  LD_LIBRARY_PATH=$(find / -xdev \( -name 'libcublas.so.13' -o -name 'libcudart.so.13' \) -printf '%h:' 2>/dev/null || true)${LD_LIBRARY_PATH:-}
  export LD_LIBRARY_PATH DKI_BENCH_GPU=$gpu
  nvidia-smi >"$out/log" 2>&1 || true
  local bench=(node dist/cli/main.js bench --gpu "$gpu" --json --out "$unpacked/reports")
  try contract 120 "$out/log" vitest run --project parts test/contract/engine.test.ts -t 'llama-cpp on' \
    --reporter=json --outputFile="$out/contract.json"
  try length-model 120 "$out/length-model.json" "${bench[@]}" --suite length --model model.gguf --lengths "${lengths[0]}"
  try length-shape 150 "$out/length-shape.json" "${bench[@]}" --suite length --model "$shape" --lengths "${lengths[1]}"
  try bench 120 "$out/bench.json" "${bench[@]}" --model model.gguf --limit "$questions"
}

rehearse() {
  [ -d "$1" ] && [ -n "$(ls "$1")" ] && fail "$1 is not empty"
  gpu=off model=recall-base shape=random:tiny-qwen2 lengths=(64 64) questions=4 patience=5
  unpacked=$scratch/machine
  pack "$scratch/pieces"
  local piece
  for piece in "$scratch"/pieces/piece-*; do add "$piece"; done
  run "$1"
}

case "${1:-} $#" in
  'pack 2' | 'add 2' | 'run 2' | 'rehearse 2') "$1" "$2" ;;
  *) fail "usage: $0 pack|add|run|rehearse PATH" ;;
esac
