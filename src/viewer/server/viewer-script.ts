import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BenchError } from '../../base/bench-error.ts';

// From src/viewer/server and from dist/viewer/server alike.
const built = fileURLToPath(new URL('../../../dist/viewer/client/viewer.js', import.meta.url));

/**
 * Reads the script of the viewer's pages, as the installation built it.
 * @throws BenchError `not-found` if it was not built
 */
export function viewerScript(path = built): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new BenchError(
      'not-found',
      'the script of the viewer is not built: pages work without it, but have no keys',
      'build it: npm run build',
      error,
    );
  }
}
