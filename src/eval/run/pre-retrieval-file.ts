import { readFileSync } from 'node:fs';
import type { BenchConfig } from '../../config/bench-config.ts';
import { BenchError } from '../../config/bench-error.ts';
import {
  readPreRetrievalConfig,
  type ReadPreRetrievalConfig,
} from '../../retrieval/hinted/pre-retrieval/pre-retrieval-config.ts';

/**
 * How questions are prepared: what `--pre-retrieval` says, else the defaults.
 *
 * @throws BenchError `bad-option` where the file cannot be read, or says something that is not understood
 */
export function readPreRetrievalFile({
  preRetrieval: path,
}: Pick<BenchConfig, 'preRetrieval'>): ReadPreRetrievalConfig {
  if (path === undefined) return readPreRetrievalConfig({}, 'defaults');
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const { message } = error as Error;
    const hint = 'it holds one JSON object, such as {"route_strategy": "classifier"}';
    throw new BenchError('bad-option', `--pre-retrieval ${path} cannot be read: ${message}`, hint, error);
  }
  return readPreRetrievalConfig(content, path);
}
