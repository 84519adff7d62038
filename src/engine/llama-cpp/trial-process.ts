/** Main module of a child process that tries a model, so that a crash ends that process and not the bench. */
import type { LlamaCppOptions } from './load-model.ts';
import { tryModel } from './try-model.ts';

const [path = '', options = '{}'] = process.argv.slice(2);
const report = await tryModel(path, JSON.parse(options) as LlamaCppOptions);
process.send?.(report, () => process.exit());
