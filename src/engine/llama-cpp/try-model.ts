import { BenchError, type BenchErrorCode } from '../../base/bench-error.ts';
import type { NextDistribution } from '../sequence-score.ts';
import { LlamaCppEngine } from './llama-cpp-engine.ts';
import type { LlamaCppOptions } from './loaded-model.ts';

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
    if (!(totalOf(next) > 0)) return refused(path, 'it computes what are no probabilities');
    // `restore` checks its keys and values.
    if (engine.capabilities.checkpoints) await session.restore(await session.checkpoint());
    return { state: 'works' };
  } catch (error) {
    if (!(error instanceof BenchError)) return refused(path, error instanceof Error ? error.message : String(error));
    const { code, message, hint } = error;
    if (code === 'bad-state') return refused(path, 'it computes keys or values that are not finite numbers');
    return { state: 'refused', code, message, hint };
  }
}

function refused(path: string, why: string): TrialReport {
  const hint = 'name another model; if the file was downloaded, download it again';
  return { state: 'refused', code: 'bad-model', message: `${path}: llama.cpp cannot answer with it: ${why}`, hint };
}

/** NaN where one of them is. */
function totalOf(next: NextDistribution): number {
  if (next.span === 'top') return 1;
  return next.probabilities.reduce((sum, probability) => sum + probability, 0);
}

/** The message of a trial process at its end. */
export type TrialReport =
  | { readonly state: 'works' }
  | { readonly state: 'refused'; readonly code: BenchErrorCode; readonly message: string; readonly hint: string };
