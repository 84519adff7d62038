/**
 * Bundles the script of the viewer's pages into dist, where the viewer finds it; `--out FILE` writes it elsewhere. It opens with the
 * licence of each package that went in.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { out: { type: 'string', default: 'dist/viewer/client/viewer.js' } } });
const out = resolve(root, values.out);

const { metafile, outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: ['src/viewer/client/viewer.ts'],
  outfile: out,
  write: false,
  metafile: true,
  bundle: true,
  minify: true,
  // Browsers load no module from a file, which is what an export is.
  format: 'iife',
  target: 'es2022',
  legalComments: 'none',
  logLevel: 'warning',
});

const packages = Object.keys(metafile.inputs).flatMap(
  (path) => /(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
);
const licences = [...new Set(packages)].map(
  (path) => `/*\n${path.split('node_modules/').at(-1)}\n\n${readFileSync(resolve(root, path, 'LICENSE'), 'utf8')}*/\n`,
);
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, licences.join('') + outputFiles[0].text);
