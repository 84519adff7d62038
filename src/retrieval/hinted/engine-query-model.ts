import { lastExactCut } from '../../engine/engine-capabilities.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { Engine } from '../../engine/engine.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { QueryModel } from './pre-retrieval/pre-retrieval-types.ts';

const LONGEST_LINE_TOKENS = 64;

/**
 * Prepares questions with the model of an engine, in a separate session. Questions are tokenised as text, so that none can
 * forge a role marker.
 * @see Holtzman et al. 2021, Surface form competition, for scoring a label by what the question adds to it
 */
export class EngineQueryModel implements QueryModel {
  readonly name: string;
  readonly #engine: Engine;
  readonly #session: EngineSession;
  #neutral: { readonly key: string; readonly scores: readonly number[] } | undefined;

  private constructor(engine: Engine, session: EngineSession) {
    this.name = engine.info.model.name;
    this.#engine = engine;
    this.#session = session;
  }

  /** Opens a session of the engine, which is closed with the query model. @throws BenchError `no-session` */
  static async open(engine: Engine): Promise<EngineQueryModel> {
    return new EngineQueryModel(engine, await engine.openSession('query-model'));
  }

  async scoreLabels(prompt: string, neutralPrompt: string, labels: readonly string[]): Promise<readonly number[]> {
    // All questions with the same labels share the neutral prompt.
    const key = JSON.stringify([neutralPrompt, labels]);
    if (this.#neutral?.key !== key) this.#neutral = { key, scores: await this.#labelScores(neutralPrompt, labels) };
    const { scores: neutral } = this.#neutral;
    const scores = await this.#labelScores(prompt, labels);
    return scores.map((score, index) => score - neutral[index]!);
  }

  async writeLine(prompt: string): Promise<string> {
    const tokens = await this.#keepCommonPrefix(await this.#tokenize(prompt));
    const { text } = await this.#session.generate(tokens, { maxTokens: LONGEST_LINE_TOKENS, stopTexts: ['\n'] });
    return text.trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session[Symbol.asyncDispose]();
  }

  /** Mean ln p of the tokens of each label after the prompt. */
  async #labelScores(prompt: string, labels: readonly string[]): Promise<number[]> {
    const tokens = await this.#tokenize(prompt);
    const continuations = await this.#engine.tokenize(labels.map((label) => ({ text: ` ${label}`, as: 'text' })));
    const scores: number[] = [];
    for (const continuation of continuations) {
      const { logProbabilities } = await this.#session.score(await this.#keepCommonPrefix(tokens), continuation);
      scores.push(logProbabilities.reduce((sum, value) => sum + value, 0) / logProbabilities.length);
    }
    return scores;
  }

  async #tokenize(prompt: string): Promise<readonly TokenId[]> {
    const { bosToken } = this.#engine.info;
    const [tokens] = await this.#engine.tokenize([{ text: prompt, as: 'text', first: true }]);
    return [...(bosToken === null ? [] : [bosToken]), ...tokens!];
  }

  /** Truncates the session to its common prefix with `tokens`. @returns the rest, at least the engine's minimum for a call */
  async #keepCommonPrefix(tokens: readonly TokenId[]): Promise<readonly TokenId[]> {
    const held = this.#session.tokens;
    const differs = tokens.findIndex((token, index) => token !== held[index]);
    const { capabilities } = this.#engine;
    const most = Math.min(differs === -1 ? tokens.length : differs, tokens.length - capabilities.leastTokens);
    const common = lastExactCut(capabilities, Math.max(0, most));
    await this.#session.truncate(common);
    return tokens.slice(common);
  }
}
