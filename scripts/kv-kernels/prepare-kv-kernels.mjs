import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answers, compileAddon, isInstalled } from '../native-addon.mjs';

const require = createRequire(import.meta.url);
const folder = fileURLToPath(new URL('.', import.meta.url));
const output = join(folder, '..', '..', 'build', 'kv-kernels');
const addon = join(output, 'kv-kernels.node');
const hashFile = join(output, 'sources.sha256');
const sources = ['addon.c', 'eight-numbers.h', 'restore.h', 'rotate.h', 'scale.h', 'spread-rows.h'].map((name) =>
  join(folder, name),
);

/** Optimised, but no operation is joined with another or put elsewhere: that would round in another way. */
const flags = ['-std=gnu11', '-O3', '-ffp-contract=off', '-fPIC', '-shared', '-DNAPI_VERSION=8'];

/** Rotates a pair by a quarter of a turn. */
const proof = `
  const memory = new Uint8Array(256);
  new Float32Array(memory.buffer, 0, 16).fill(1, 8);
  new Uint16Array(memory.buffer, 64, 16).fill(0x3c00, 0, 8).fill(0x4000, 8);
  const refused = require(process.argv[1]).rotateNeoxF16(memory, Uint32Array.of(64), Uint32Array.of(96), 32, 0, 16, 16);
  const rotated = [...new Uint16Array(memory.buffer, 96, 16)];
  process.exit(refused === 0 && rotated.every((bits, i) => bits === (i < 8 ? 0xc000 : 0x3c00)) ? 0 : 1);`;

function compile(compiler) {
  const headers = join(dirname(require.resolve('node-api-headers/package.json')), 'include');
  // Node's own functions are found when it loads the addon.
  const platform = process.platform === 'darwin' ? ['-undefined', 'dynamic_lookup'] : [];
  compileAddon(compiler, { addon, proof, argumentsOf: () => [...flags, ...platform, `-I${headers}`, sources[0]] });
  writeFileSync(hashFile, sourcesHash());
}

function sourcesHash() {
  const hash = createHash('sha256').update(flags.join(' '));
  for (const source of sources) hash.update(readFileSync(source));
  return hash.digest('hex');
}

function isPresent() {
  const isCurrent = existsSync(hashFile) && readFileSync(hashFile, 'utf8') === sourcesHash();
  return isCurrent && existsSync(addon) && answers(proof, addon);
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
  if (!isInstalled(compiler)) return withoutOlder(`no ${compiler}`);
  try {
    compile(compiler);
    return null;
  } catch (error) {
    return withoutOlder(`building them failed: ${error.message}`);
  }
}
