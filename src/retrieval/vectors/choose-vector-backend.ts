import { basename } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import {
  exactBackend,
  loadFaissCompiled,
  loadFaissNode,
  type VectorBackend,
  type VectorBackendName,
  vectorBackendNames,
} from './vector-backends.ts';

const loaders: Readonly<Record<VectorBackendName, () => VectorBackend>> = {
  'faiss-node': loadFaissNode,
  'faiss-compiled': loadFaissCompiled,
  typescript: () => exactBackend,
};

/** The chosen backend, and the preferred ones that do not work here; reported once and recorded with the run. */
export interface VectorBackendChoice {
  readonly backend: VectorBackend;
  readonly rejectedBackends: readonly { readonly name: VectorBackendName; readonly reason: string }[];
}

/**
 * Chooses the first backend that passes a test search: faiss-node as installed, FAISS compiled at install time, plain
 * TypeScript.
 * @param forced the only backend to try; default: the environment variable `DKI_BENCH_VECTOR_BACKEND`
 * @throws BenchError `bad-option` if the forced backend is unknown or does not work here
 *
 * @example
 * ```ts
 * import { chooseVectorBackend } from 'dki-bench';
 *
 * const { backend, rejectedBackends } = chooseVectorBackend();
 * console.log(backend.name, rejectedBackends.map(({ name, reason }) => `${name}: ${reason}`));
 * ```
 */
export function chooseVectorBackend(forced = process.env['DKI_BENCH_VECTOR_BACKEND']): VectorBackendChoice {
  const isForced = forced !== undefined && forced !== '';
  if (isForced && !Object.hasOwn(loaders, forced)) {
    const hint = `DKI_BENCH_VECTOR_BACKEND is one of ${vectorBackendNames.join(', ')}`;
    throw new BenchError('bad-option', `unknown vector backend '${forced}'`, hint);
  }
  const rejectedBackends: { name: VectorBackendName; reason: string }[] = [];
  for (const name of isForced ? [forced as VectorBackendName] : vectorBackendNames) {
    try {
      const backend = loaders[name]();
      prove(backend);
      return { backend, rejectedBackends };
    } catch (error) {
      const reason = describeFailure(error as NodeJS.ErrnoException);
      if (isForced) {
        const hint =
          'unset DKI_BENCH_VECTOR_BACKEND, or run npm rebuild after apt-get install libfaiss-dev libopenblas-dev';
        throw new BenchError('bad-option', `vector backend '${name}' does not work here: ${reason}`, hint, error);
      }
      rejectedBackends.push({ name, reason });
    }
  }
  throw new Error('plain TypeScript always works');
}

/** Formats a reason in one line without local folders, since reports are shared. */
function describeFailure({ code, message, path }: NodeJS.ErrnoException): string {
  return code === 'ENOENT' && path !== undefined ? `not built: no ${basename(path)}` : message.split('\n')[0]!;
}

/** Tests a backend with one search. @throws Error for a wrong result */
function prove(backend: VectorBackend): void {
  const index = backend.createIndex(2);
  index.add([new Float32Array([1, 0]), new Float32Array([0.6, 0.8]), new Float32Array([0, 1])]);
  const { ids, scores } = index.search(new Float32Array([0, 1]), 2);
  if (ids.join() !== '2,1' || Math.abs(scores[1]! - 0.8) > 1e-6) {
    throw new Error(`a search gave rows ${ids.join()} with scores ${scores.join()}`);
  }
}
