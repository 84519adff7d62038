import { basename } from 'node:path';
import { BenchError } from '../config/bench-error.ts';
import { exactBackend } from './exact-index.ts';
import { loadFaissCompiled, loadFaissNode } from './faiss-index.ts';
import { loadUsearch } from './usearch-index.ts';
import { vectorBackendNames, type VectorBackend, type VectorBackendName } from './vector-index.ts';

const loaders: Readonly<Record<VectorBackendName, () => VectorBackend>> = {
  'faiss-node': loadFaissNode,
  'faiss-compiled': loadFaissCompiled,
  usearch: loadUsearch,
  typescript: () => exactBackend,
};

/** The backend that serves, and those before it that do not: to be said once and recorded with the run. */
export interface VectorBackendChoice {
  readonly backend: VectorBackend;
  readonly passedOver: readonly { readonly name: VectorBackendName; readonly reason: string }[];
}

/**
 * The first backend that answers a search rightly: faiss-node as installed, FAISS compiled at install time, usearch,
 * plain TypeScript.
 *
 * @param forced take this one or none; the environment's `DKI_BENCH_VECTOR_BACKEND` where not given
 * @throws BenchError `bad-option` where the forced one is unknown or does not work here
 */
export function chooseVectorBackend(forced = process.env['DKI_BENCH_VECTOR_BACKEND']): VectorBackendChoice {
  const names = forced === undefined || forced === '' ? vectorBackendNames : [forced];
  const passedOver: { name: VectorBackendName; reason: string }[] = [];
  let cause: unknown;
  for (const name of names) {
    if (!isBackendName(name)) {
      const hint = `DKI_BENCH_VECTOR_BACKEND is one of ${vectorBackendNames.join(', ')}`;
      throw new BenchError('bad-option', `there is no vector backend '${name}'`, hint);
    }
    try {
      const backend = loaders[name]();
      prove(backend);
      return { backend, passedOver };
    } catch (error) {
      cause = error;
      passedOver.push({ name, reason: reasonOf(error as NodeJS.ErrnoException) });
    }
  }
  const [{ name, reason } = { name: forced, reason: 'unknown' }] = passedOver;
  throw new BenchError(
    'bad-option',
    `vector backend '${name}' does not work here: ${reason}`,
    'take DKI_BENCH_VECTOR_BACKEND away, or run npm rebuild after apt-get install libfaiss-dev libopenblas-dev',
    cause,
  );
}

/** In one line, and without a folder of this machine: it stands in reports that are passed on. */
function reasonOf({ code, message, path }: NodeJS.ErrnoException): string {
  return code === 'ENOENT' && path !== undefined ? `not built: no ${basename(path)}` : message.split('\n')[0]!;
}

/** @throws Error where a search does not give what it must */
function prove(backend: VectorBackend): void {
  const index = backend.createIndex(2);
  index.add([new Float32Array([1, 0]), new Float32Array([0.6, 0.8]), new Float32Array([0, 1])]);
  const { ids, scores } = index.search(new Float32Array([0, 1]), 2);
  if (ids.join() !== '2,1' || Math.abs(scores[1]! - 0.8) > 1e-6) {
    throw new Error(`a search gave rows ${ids.join()} with scores ${scores.join()}`);
  }
}

function isBackendName(name: string): name is VectorBackendName {
  return (vectorBackendNames as readonly string[]).includes(name);
}
