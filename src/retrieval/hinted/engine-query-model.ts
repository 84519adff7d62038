import { lastExactCut } from '../../engine/engine-capabilities.ts';
import type { Engine } from '../../engine/engine.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { QueryModel } from './pre-retrieval/pre-retrieval-types.ts';

const LONGEST_LINE_TOKENS = 64;

/**
 * Prepares questions with the model of an engine, in a separate session, which is closed with the query model. Questions are
 * tokenised as text, so that none can forge a role marker.
 * @throws BenchError `no-session`
 * @see Holtzman et al. 2021, Surface form competition, for scoring a label by what the question adds to it
 */
export async function openQueryModel(engine: Engine): Promise<QueryModel> {
  const session = await engine.openSession('query-model');
  let neutral: { readonly key: string; readonly scores: readonly number[] } | undefined;

  const tokenize = async (prompt: string): Promise<readonly TokenId[]> => {
    const { bosToken } = engine.info;
    const [tokens] = await engine.tokenize([{ text: prompt, as: 'text', first: true }]);
    return [...(bosToken === null ? [] : [bosToken]), ...tokens!];
  };
  /** Truncates the session to its common prefix with `tokens`. @returns the rest, at least the engine's minimum for a call */
  const keepCommonPrefix = async (tokens: readonly TokenId[]): Promise<readonly TokenId[]> => {
    const differs = tokens.findIndex((token, index) => token !== session.tokens[index]);
    const { capabilities } = engine;
    const most = Math.min(differs === -1 ? tokens.length : differs, tokens.length - capabilities.leastTokens);
    const common = lastExactCut(capabilities, Math.max(0, most));
    await session.truncate(common);
    return tokens.slice(common);
  };
  /** Mean ln p of the tokens of each label after the prompt. */
  const labelScores = async (prompt: string, labels: readonly string[]): Promise<number[]> => {
    const tokens = await tokenize(prompt);
    const continuations = await engine.tokenize(labels.map((label) => ({ text: ` ${label}`, as: 'text' })));
    const scores: number[] = [];
    for (const continuation of continuations) {
      const { logProbabilities } = await session.score(await keepCommonPrefix(tokens), continuation);
      scores.push(logProbabilities.reduce((sum, value) => sum + value, 0) / logProbabilities.length);
    }
    return scores;
  };
  return {
    name: engine.info.model.name,
    async scoreLabels(prompt, neutralPrompt, labels) {
      // All questions with the same labels share the neutral prompt.
      const key = JSON.stringify([neutralPrompt, labels]);
      if (neutral?.key !== key) neutral = { key, scores: await labelScores(neutralPrompt, labels) };
      const before = neutral.scores;
      const scores = await labelScores(prompt, labels);
      return scores.map((score, index) => score - before[index]!);
    },
    async writeLine(prompt) {
      const tokens = await keepCommonPrefix(await tokenize(prompt));
      const { text } = await session.generate(tokens, { maxTokens: LONGEST_LINE_TOKENS, stopTexts: ['\n'] });
      return text.trim();
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}
