#!/usr/bin/env bash
# The whole chain in two minutes: the kernels' tests, a toy trained on every layout, its export, and llama.cpp beside PyTorch.
set -euo pipefail
cd "$(dirname "$0")/../.."
toy=build/train/smoke.gguf
scripts/train/run.sh unit_tests.py
scripts/train/run.sh train.py smoke --evaluation-documents 4
scripts/train/run.sh train.py smoke --evaluation-documents 4 --resume
scripts/train/run.sh export_gguf.py smoke --out "$toy"
# A toy is unsure of much, and a tie may fall either way.
npx --no-install tsx scripts/train/parity.ts --stage smoke --model "$toy" --prompts 60 --strings 2000 --least 0.9
