import { BenchError } from '../../../config/bench-error.ts';
import { LlamaCppEngine } from '../llama-cpp-engine.ts';
import type { LlamaCppOptions } from '../llama-cpp-options.ts';
import type { TrialReport } from './trial-report.ts';

/** Enough for a text and an answer of a few tokens. */
const CONTEXT_TOKENS = 256;
const TEXT = 'Hello! 你好 1 2\n';
const ANSWER_TOKENS = 2;

/** Loads a model, tokenises, evaluates and generates: what every turn does. */
async function tryModel(path: string, options: LlamaCppOptions): Promise<TrialReport> {
  try {
    await using engine = await LlamaCppEngine.open(path, { model: path, contextTokens: CONTEXT_TOKENS }, options);
    const { bosToken } = engine.info;
    const [text = []] = await engine.tokenize([{ text: TEXT, as: 'text', first: true }]);
    const prompt = [...(bosToken === null ? [] : [bosToken]), ...text];
    await engine.detokenize([prompt]);
    await using session = await engine.openSession('trial');
    await session.generate(prompt.slice(0, CONTEXT_TOKENS - ANSWER_TOKENS), { maxTokens: ANSWER_TOKENS });
    return { state: 'works' };
  } catch (error) {
    if (error instanceof BenchError) {
      const { code, message, hint } = error;
      return { state: 'refused', code, message, hint };
    }
    const why = error instanceof Error ? error.message : String(error);
    const hint = 'name another model; if the file was downloaded, download it again';
    return { state: 'refused', code: 'bad-model', message: `${path}: llama.cpp cannot answer with it: ${why}`, hint };
  }
}

const [path = '', options = '{}'] = process.argv.slice(2);
const report = await tryModel(path, JSON.parse(options) as LlamaCppOptions);
process.send?.(report, () => process.exit());
