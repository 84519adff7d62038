/**
 * Brings node-llama-cpp's builds for accelerators, which the clone leaves out (`overrides` in package.json: together they
 * are larger than everything else). `npm run gpu:install` brings all that this platform has, `npm run gpu:install -- vulkan`
 * one. npm fetches and verifies them in a folder of their own; `npm ci` takes them away again.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules');
const scope = '@node-llama-cpp';

/** Names and versions of this platform's packages, by the accelerator that they are for; that for CUDA comes in two. */
function packagesHere() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(modules, 'node-llama-cpp', 'package.json'), 'utf8'));
  const platform = { win32: 'win', darwin: 'mac' }[process.platform] ?? process.platform;
  const prefix = `${scope}/${platform}-${process.arch}-`;
  const here = Object.entries(optionalDependencies).filter(([name]) => name.startsWith(prefix));
  return Map.groupBy(here, ([name]) => name.slice(prefix.length).replace(/-ext$/, ''));
}

/** Installs packages in a scratch folder on the same disk, and moves them to their place when all of them are there. */
function bring(packages) {
  const scratch = mkdtempSync(join(modules, '.gpu-packages-'));
  try {
    const words = packages.map((nameAndVersion) => nameAndVersion.join('@'));
    // A shell: npm is a script on Windows. No word comes from the command line.
    execFileSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', scratch, ...words], {
      cwd: scratch,
      stdio: ['ignore', 'inherit', 'inherit'],
      shell: process.platform === 'win32',
    });
    for (const [name] of packages) {
      const target = join(modules, name);
      rmSync(target, { recursive: true, force: true });
      mkdirSync(dirname(target), { recursive: true });
      renameSync(join(scratch, 'node_modules', name), target);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function fail(message) {
  process.stderr.write(`gpu:install: ${message}\n`);
  process.exit(2);
}

if (!existsSync(join(modules, 'node-llama-cpp'))) fail('node-llama-cpp is not installed: npm ci');
const known = packagesHere();
const wanted = process.argv.length > 2 ? process.argv.slice(2) : [...known.keys()];
if (wanted.length === 0) fail(`no accelerator has a build for ${process.platform}-${process.arch}`);
const unknown = wanted.find((accelerator) => !known.has(accelerator));
if (unknown !== undefined) {
  fail(`${unknown}: no such build for ${process.platform}-${process.arch}; known: ${[...known.keys()].join(', ')}`);
}
for (const accelerator of wanted) {
  try {
    bring(known.get(accelerator));
  } catch (error) {
    fail(`${accelerator}: ${error.message.split('\n')[0]}; nothing was changed`);
  }
}
process.stdout.write(`${wanted.join(', ')}: installed; npx dki-bench doctor lists the devices\n`);
