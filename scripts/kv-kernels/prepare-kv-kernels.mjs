import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reasonOf, run } from '../run-program.mjs';

const require = createRequire(import.meta.url);
const folder = fileURLToPath(new URL('.', import.meta.url));
const output = join(folder, '..', '..', 'build', 'kv-kernels');
const addon = join(output, 'kv-kernels.node');
const sources = ['addon.c', 'rotate.h', 'spread-rows.h', 'eight-numbers.h'].map((name) => join(folder, name));

/** Optimised, but no operation is joined with another or put elsewhere: that would round in another way. */
const flags = ['-std=gnu11', '-O3', '-ffp-contract=off', '-fPIC', '-shared', '-DNAPI_VERSION=8'];

/** Rotates a pair by a quarter of a turn, in a process of its own, since a bad binary takes its process with it. */
function answers(path) {
  const proof = `
    const memory = new Uint8Array(256);
    new Float32Array(memory.buffer, 0, 16).fill(1, 8);
    new Uint16Array(memory.buffer, 64, 16).fill(0x3c00, 0, 8).fill(0x4000, 8);
    const refused = require(process.argv[1]).rotateNeoxF16(memory, Uint32Array.of(64), Uint32Array.of(96), 32, 0, 16, 16);
    const rotated = [...new Uint16Array(memory.buffer, 96, 16)];
    process.exit(refused === 0 && rotated.every((bits, i) => bits === (i < 8 ? 0xc000 : 0x3c00)) ? 0 : 1);`;
  try {
    run(process.execPath, ['-e', proof, path]);
    return true;
  } catch {
    return false;
  }
}

function compile(compiler) {
  const scratch = mkdtempSync(join(tmpdir(), 'dki-bench-kv-kernels-'));
  try {
    const built = join(scratch, 'kv-kernels.node');
    const headers = join(dirname(require.resolve('node-api-headers/package.json')), 'include');
    // Node's own functions are found when it loads the addon.
    const platform = process.platform === 'darwin' ? ['-undefined', 'dynamic_lookup'] : [];
    run(compiler, [...flags, ...platform, `-I${headers}`, sources[0], '-o', built]);
    if (!answers(built)) throw new Error('what was compiled did not rotate a key');
    mkdirSync(output, { recursive: true });
    // Beside its place first: a rename across file systems fails, and one within is whole or not at all.
    const beside = `${addon}.${process.pid}`;
    writeFileSync(beside, readFileSync(built));
    renameSync(beside, addon);
    writeFileSync(join(output, 'sources.sha256'), sourcesHash());
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function sourcesHash() {
  const hash = createHash('sha256').update(flags.join(' '));
  for (const source of sources) hash.update(readFileSync(source));
  return hash.digest('hex');
}

function isPresent() {
  const hash = join(output, 'sources.sha256');
  return existsSync(addon) && existsSync(hash) && readFileSync(hash, 'utf8') === sourcesHash() && answers(addon);
}

/** Removes what older sources were compiled to. */
function withoutOlder(reason) {
  rmSync(output, { recursive: true, force: true });
  return reason;
}

/** Compiles the kernels into build/kv-kernels/ where they are not there. Null where they are, else why they are not. */
export function prepareKvKernels() {
  if (isPresent()) return null;
  const compiler = process.env.CC ?? 'cc';
  try {
    run(compiler, ['--version']);
  } catch {
    return withoutOlder(`no ${compiler}`);
  }
  try {
    compile(compiler);
    return null;
  } catch (error) {
    return withoutOlder(`building them failed: ${reasonOf(error)}`);
  }
}
