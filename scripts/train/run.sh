#!/usr/bin/env bash
# Runs a program of this folder with Debian's torch, made fast: `scripts/train/run.sh train.py base`.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! /usr/bin/python3 -c 'import torch' 2>/dev/null; then
  echo "torch is missing: apt-get install --no-install-recommends gcc python3-torch python3-numpy libopenblas0-pthread" >&2
  exit 2
fi
. scripts/train/environment.sh
exec /usr/bin/python3 "scripts/train/$1" "${@:2}"
