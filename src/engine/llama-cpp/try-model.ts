import { BenchError } from '../../base/bench-error.ts';
import { LlamaCppEngine } from './llama-cpp-engine.ts';
import type { LlamaCppOptions } from './load-model.ts';

const CONTEXT_TOKENS = 256;
const TEXT = 'Hello! 你好 1 2\n';
const ANSWER_TOKENS = 2;

/** Loads a model and uses it as a turn does. Run it in a process of its own, which llama.cpp may crash. */
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
    // NaN if any probability is NaN.
    const total = next.span === 'top' ? 1 : next.probabilities.reduce((sum, probability) => sum + probability, 0);
    if (!(total > 0)) return refused(path, 'it computes invalid probabilities');
    // `restore` checks that keys and values are finite.
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

/** Final message of a trial process: null if the model works, else the error. */
export type TrialReport = Pick<BenchError, 'code' | 'message' | 'hint'> | null;
