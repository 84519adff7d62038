import { extname } from 'node:path';
import { parse as parseYaml } from 'yaml';
import type { BenchConfig } from '../../../config/bench-config.ts';
import { BenchError } from '../../../base/bench-error.ts';
import { readToEnd } from '../../../base/read-remove-rename-files.ts';
import {
  readPreRetrievalConfig,
  type ReadPreRetrievalConfig,
} from '../../../retrieval/hinted/pre-retrieval/pre-retrieval-config.ts';

/** Reads the configuration for preparing questions: the file of `--pre-retrieval`, or defaults. @throws BenchError `bad-option` */
export function readPreRetrievalConfigFile(config: Pick<BenchConfig, 'preRetrieval'>): ReadPreRetrievalConfig {
  const { preRetrieval: path } = config;
  if (path === undefined) return readPreRetrievalConfig({}, 'defaults');
  let content: unknown;
  try {
    const text = readToEnd(path).toString();
    const isYaml = ['.yaml', '.yml'].includes(extname(path).toLowerCase());
    // Only errors: warnings would go to standard error, and the schema refuses bad values anyway.
    content = isYaml ? parseYaml(text, { logLevel: 'error' }) : JSON.parse(text);
  } catch (error) {
    // The YAML parser quotes the place on further lines.
    const [reason = ''] = (error as Error).message.split('\n');
    const message = `--pre-retrieval ${path} cannot be read: ${reason.replace(/:$/, '')}`;
    const hint =
      'it holds one object, such as {"route_strategy": "classifier"}; YAML if its name ends in .yaml or .yml';
    throw new BenchError('bad-option', message, hint, error);
  }
  return readPreRetrievalConfig(content, path);
}
