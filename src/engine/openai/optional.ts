import { BenchError } from '../../base/bench-error.ts';

/** The answer of a server; undefined where it has no such route, or answers something else there. */
export async function optional<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof BenchError && (error.code === 'protocol' || error.code === 'unsupported')) return undefined;
    throw error;
  }
}
