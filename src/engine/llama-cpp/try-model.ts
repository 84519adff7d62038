import { BenchError } from '../../base/bench-error.ts';
import { LlamaCppEngine } from './llama-cpp-engine.ts';
import type { LlamaCppOptions } from './llama-cpp-options.ts';

const CONTEXT_TOKENS = 256;
const TEXT = 'Hello! 你好 1 2\n';
const ANSWER_TOKENS = 2;

/** Loads a model, tokenises, evaluates and generates, as every turn does. llama.cpp may end this process on it. */
export async function tryModel(path: string, options: LlamaCppOptions): Promise<TrialReport> {
  try {
    await using engine = await LlamaCppEngine.open(path, { model: path, contextTokens: CONTEXT_TOKENS }, options);
    const { bosToken } = engine.info;
    const [text = []] = await engine.tokenize([{ text: TEXT, as: 'text', first: true }]);
    const prompt = [...(bosToken === null ? [] : [bosToken]), ...text];
    await engine.detokenize([prompt]);
    await using session = await engine.openSession('trial');
    const start = prompt.slice(0, CONTEXT_TOKENS - ANSWER_TOKENS);
    await session.generate(start, { maxTokens: ANSWER_TOKENS });
    await session.clear();
    const { next } = await session.score(start, []);
    // NaN where one of them is.
    const total = next.span === 'top' ? 1 : next.probabilities.reduce((sum, probability) => sum + probability, 0);
    if (!(total > 0)) return refused(path, 'it computes what are no probabilities');
    // `restore` checks its keys and values.
    if (engine.capabilities.checkpoints) await session.restore(await session.checkpoint());
    return null;
  } catch (error) {
    if (!(error instanceof BenchError)) return refused(path, error instanceof Error ? error.message : String(error));
    const { code, message, hint } = error;
    if (code === 'bad-state') return refused(path, 'it computes keys or values that are not finite numbers');
    return { code, message, hint };
  }
}

function refused(path: string, why: string): TrialReport {
  const hint = 'name another model; if the file was downloaded, download it again';
  return { code: 'bad-model', message: `${path}: llama.cpp cannot answer with it: ${why}`, hint };
}

/** The message of a trial process at its end: null where the model works, else why not. */
export type TrialReport = Pick<BenchError, 'code' | 'message' | 'hint'> | null;
