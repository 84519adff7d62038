"""llama.cpp's own server out of a Python package, with the flags of llama-server: those that the bench gives, and a few more."""

import argparse
import signal
import sys
import time

import xllamacpp

TYPES = {"f32": xllamacpp.ggml_type.GGML_TYPE_F32, "f16": xllamacpp.ggml_type.GGML_TYPE_F16, "q8_0": xllamacpp.ggml_type.GGML_TYPE_Q8_0}
FLASH = {
    "auto": xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_AUTO,
    "on": xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED,
    "off": xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED,
}

parser = argparse.ArgumentParser(prog="llama-server", allow_abbrev=False)
parser.add_argument("--version", action="version", version=f"xllamacpp {xllamacpp.__version__}, llama.cpp {xllamacpp.BUILD_INFO}")
parser.add_argument("-m", "--model", required=True)
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--port", type=int, default=8080)
parser.add_argument("-c", "--ctx-size", type=int, default=4096, help="tokens of all slots together")
parser.add_argument("-np", "--parallel", type=int, default=1, help="number of slots")
parser.add_argument("-t", "--threads", type=int)
parser.add_argument("-b", "--batch-size", type=int)
parser.add_argument("-ub", "--ubatch-size", type=int)
parser.add_argument("-fa", "--flash-attn", choices=FLASH, default="auto")
parser.add_argument("-ctk", "--cache-type-k", choices=TYPES, default="f16")
parser.add_argument("-ctv", "--cache-type-v", choices=TYPES, default="f16")
parser.add_argument("--slots", action=argparse.BooleanOptionalAction, default=True)
parser.add_argument("--metrics", action="store_true")
parser.add_argument("--slot-save-path", default="")
parser.add_argument("-cram", "--cache-ram", type=int, default=8192, help="MiB; 0 keeps no prompt beside the slots")
given = parser.parse_args()

params = xllamacpp.CommonParams()
params.model.path = given.model
params.hostnames = [given.host]
params.port = given.port
params.n_ctx = given.ctx_size
params.n_parallel = given.parallel
params.kv_unified = False
if given.threads is not None:
    params.cpuparams.n_threads = given.threads
    params.cpuparams_batch.n_threads = given.threads
if given.batch_size is not None:
    params.n_batch = given.batch_size
if given.ubatch_size is not None:
    params.n_ubatch = given.ubatch_size
params.flash_attn_type = FLASH[given.flash_attn]
params.cache_type_k = TYPES[given.cache_type_k]
params.cache_type_v = TYPES[given.cache_type_v]
params.endpoint_slots = given.slots
params.endpoint_metrics = given.metrics
params.slot_save_path = given.slot_save_path and given.slot_save_path.rstrip("/") + "/"
params.cache_ram_mib = given.cache_ram

for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: sys.exit(0))
server = xllamacpp.Server(params)
print(f"llama-server listens on {server.listening_address}", flush=True)
while True:
    time.sleep(3600)
