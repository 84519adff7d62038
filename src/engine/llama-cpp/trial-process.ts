import type { LlamaCppOptions } from './llama-cpp-options.ts';
import { tryModel } from './try-model.ts';

const [path = '', options = '{}'] = process.argv.slice(2);
const report = await tryModel(path, JSON.parse(options) as LlamaCppOptions);
process.send?.(report, () => process.exit());
