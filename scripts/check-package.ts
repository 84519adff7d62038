/**
 * Installs the package as others get it, and tries it: `npx tsx scripts/check-package.ts` packs what is built,
 * `-- FILE.tgz` takes a packed one. Our overrides and development dependencies do not reach its users. The GPU backends of
 * node-llama-cpp, some 620 MB that they get besides, are left out here to save the download.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { BenchError } from '../src/base/bench-error.ts';
import { typeErrors } from './package-types.ts';
import { runScript, ScratchFolder } from './run-script.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const MAX_BYTES = 20_000_000;

const versions = z.record(z.string(), z.string());
const { name, overrides } = z
  .object({ name: z.string(), overrides: versions })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));

/** Embeds three sentences by what the package's users get: no native runtime. */
const embedding = `
import assert from 'node:assert/strict';
import { EmbeddingService, TransformersEmbedder } from '${name}';

const embeddings = new EmbeddingService(() => TransformersEmbedder.open('node_modules/${name}/models/embed-en-zh'));
const [tea, drink, cat] = await embeddings.embedMany(['I like tea.', 'I like green tea.', 'My cat is called Tom.']);
const cosine = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
assert.ok(cosine(tea, drink) > cosine(tea, cat));
const { runtime, dimension } = await embeddings.info();
assert.match(runtime, /^onnxruntime-web /);
console.log(\`a sentence in \${dimension} numbers on \${runtime}\`);
`;

function run(folder: string, command: string, ...words: readonly string[]): void {
  execFileSync(command, words, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
}

/** Packs what is built. @returns the tarball */
export function packPackage(folder: string): string {
  const words = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
  return join(folder, execFileSync('npm', words, { cwd: root, encoding: 'utf8' }).trim());
}

/** Installs a tarball in an empty folder. */
export function installPackage(tarball: string, folder: string): void {
  const gpu = Object.entries(overrides).filter(([other]) => other.startsWith('@node-llama-cpp/'));
  const project = { private: true, type: 'module', overrides: Object.fromEntries(gpu) };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project));
  run(folder, 'npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', tarball);
}

function checkPackage(tarball: string, folder: string): void {
  const megabytes = (statSync(tarball).size / 1e6).toFixed(1);
  if (statSync(tarball).size > MAX_BYTES) {
    const hint = 'leave something out of `files` in package.json';
    throw new BenchError('bad-data', `${tarball}: ${megabytes} MB, more than 20`, hint);
  }
  run(root, 'npx', '--no-install', 'publint', tarball, '--strict');
  run(root, 'npx', '--no-install', 'attw', tarball, '--profile', 'esm-only');
  installPackage(tarball, folder);
  const errors = typeErrors(folder, name, join(root, 'examples'));
  if (errors.length > 0) throw new BenchError('bad-data', errors.join('\n'), 'users of the package see these too');
  writeFileSync(join(folder, 'embed.js'), embedding);
  run(folder, process.execPath, 'embed.js');
  run(folder, 'npx', '--no-install', name, '--version');
  run(folder, 'npx', '--no-install', name, 'doctor');
  const [installed] = execFileSync('du', ['-sm', 'node_modules'], { cwd: folder, encoding: 'utf8' }).split('\t');
  console.log(`packed ${megabytes} MB, installed ${installed!} MB without GPU backends`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runScript(async () => {
    const [tarball] = parseArgs({ allowPositionals: true }).positionals;
    using scratch = new ScratchFolder('package');
    const folder = realpathSync(scratch.path);
    checkPackage(tarball === undefined ? packPackage(folder) : resolve(tarball), folder);
  });
}
