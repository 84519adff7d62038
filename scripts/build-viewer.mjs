/** Bundles the script of the viewer's pages into dist, where the viewer finds it; `--out FILE` writes it elsewhere. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { out: { type: 'string', default: 'dist/inspect/client/viewer.js' } } });

await build({
  entryPoints: [resolve(root, 'src/inspect/client/viewer.ts')],
  outfile: resolve(root, values.out),
  bundle: true,
  minify: true,
  // Browsers load no module from a file, which is what an export is.
  format: 'iife',
  target: 'es2022',
  legalComments: 'none',
  logLevel: 'warning',
});
