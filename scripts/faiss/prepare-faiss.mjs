/**
 * Finds a way to FAISS: faiss-node as npm installed it, or its one source file compiled against the system's FAISS
 * into build/faiss/. It believes no binary that has not answered a search.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answers, compileAddon, isInstalled, run } from '../native-addon.mjs';

const version = '0.5.1';
// Of the package in the registry, as in package-lock.json: nothing else is compiled.
const integrity = 'sha512-zD8wobJn8C6OLWo68Unho+Ih8l6nSRB2w3Amj01a+xc4bsEvd2mBDLklAn7VocA9XO3WDvQL/bLpi5flkCn/XQ==';

const root = fileURLToPath(new URL('../..', import.meta.url));
const require = createRequire(import.meta.url);
const output = join(root, 'build', 'faiss');
const addon = join(output, 'faiss-node.node');
const versions = join(output, 'version.json');

/** Searches three vectors. */
const proof = `
  const { IndexFlatIP } = require(process.argv[1]);
  const index = new IndexFlatIP(2);
  index.add([1, 0, 0.6, 0.8, 0, 1]);
  const { labels, distances } = index.search([0, 1], 2);
  process.exit(labels.join() === '2,1' && Math.abs(distances[1] - 0.8) < 1e-6 ? 0 : 1);`;

const works = (moduleName) => answers(proof, moduleName, { cwd: root });

function packageFolder(name) {
  return dirname(require.resolve(`${name}/package.json`));
}

/** faiss-node's source: beside us, or fetched by the user's own npm, since npm drops an optional package that failed. */
function source(scratch) {
  try {
    const installed = join(packageFolder('faiss-node'), 'src', 'faiss.cc');
    if (existsSync(installed)) return installed;
  } catch {
    // Dropped.
  }
  const npm = process.env.npm_execpath ?? '';
  const [program, before] = /npm-cli\.[cm]?js$/.test(npm) ? [process.execPath, [npm]] : ['npm', []];
  const patience = ['--fetch-retries=1', '--fetch-retry-mintimeout=500', '--fetch-timeout=20000'];
  run(program, [...before, 'pack', `faiss-node@${version}`, '--loglevel=error', ...patience], { cwd: scratch });
  const tarball = join(scratch, `faiss-node-${version}.tgz`);
  const hash = createHash('sha512').update(readFileSync(tarball)).digest('base64');
  if (`sha512-${hash}` !== integrity) throw new Error(`faiss-node ${version} is not the package that was expected`);
  run('tar', ['-xzf', tarball, '-C', scratch]);
  return join(scratch, 'package', 'src', 'faiss.cc');
}

/** `1.7.3`, from the header of the system's FAISS. */
function faissVersion(header) {
  const text = readFileSync(header, 'utf8');
  return ['MAJOR', 'MINOR', 'PATCH']
    .map((part) => new RegExp(`FAISS_VERSION_${part} (\\d+)`).exec(text)?.[1])
    .join('.');
}

function compile(compiler, header) {
  compileAddon(compiler, {
    addon,
    proof,
    argumentsOf: (scratch) => [
      ...['-O2', '-fPIC', '-shared', '-std=c++17', '-fopenmp', '-DNAPI_VERSION=6'],
      ...['-include', join(root, 'scripts', 'faiss', 'compat.h')],
      ...[join(packageFolder('node-api-headers'), 'include'), packageFolder('node-addon-api')].map(
        (path) => `-I${path}`,
      ),
      ...[source(scratch), '-lfaiss', '-lopenblas', '-lgomp'],
    ],
  });
  const about = { faiss: faissVersion(header), faissNode: version };
  writeFileSync(versions, `${JSON.stringify(about)}\n`);
}

/** Makes FAISS ready. Null where it is there, else why it is not. */
export function prepareFaiss() {
  if (works('faiss-node') || (existsSync(addon) && existsSync(versions) && works(addon))) return null;
  const header = ['/usr/include', '/usr/local/include'].map((path) => join(path, 'faiss', 'Index.h')).find(existsSync);
  if (header === undefined) return 'no faiss-node, no FAISS headers';
  const compiler = process.env.CXX ?? 'g++';
  if (!isInstalled(compiler)) return `no faiss-node, no ${compiler}`;
  try {
    compile(compiler, header);
    return null;
  } catch (error) {
    return `building it failed: ${error.message}`;
  }
}
