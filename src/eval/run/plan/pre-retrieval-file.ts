import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { parse as parseYaml } from 'yaml';
import type { BenchConfig } from '../../../config/bench-config.ts';
import { BenchError } from '../../../base/bench-error.ts';
import {
  readPreRetrievalConfig,
  type ReadPreRetrievalConfig,
} from '../../../retrieval/hinted/pre-retrieval/pre-retrieval-config.ts';

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
    content = parsed(path, readFileSync(path, 'utf8'));
  } catch (error) {
    // A parser of YAML shows the place on further lines.
    const [reason = ''] = (error as Error).message.split('\n');
    const hint =
      'it holds one object, such as {"route_strategy": "classifier"}, in YAML if its name ends in .yaml or .yml';
    throw new BenchError(
      'bad-option',
      `--pre-retrieval ${path} cannot be read: ${reason.replace(/:$/, '')}`,
      hint,
      error,
    );
  }
  return readPreRetrievalConfig(content, path);
}

function parsed(path: string, text: string): unknown {
  const isYaml = ['.yaml', '.yml'].includes(extname(path).toLowerCase());
  // Warnings would be written to standard error; what is odd is refused by the schema.
  return isYaml ? parseYaml(text, { logLevel: 'error' }) : JSON.parse(text);
}
