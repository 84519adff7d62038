import type { LanguageModel } from '../../../llm/language-model.ts';
import type { TokenId } from '../../../llm/model-info.ts';
import type { ModelSequence } from '../../../llm/model-sequence.ts';
import type { QueryModel } from './pre-retrieval/query-tools.ts';

const LONGEST_LINE_TOKENS = 64;

/**
 * A language model of llama.cpp as one that prepares questions, on a sequence of its own. The question is tokenised with
 * special tokens off: it cannot forge a role.
 *
 * @see Holtzman et al. 2021, Surface form competition, for scoring a label by what the question adds to it
 */
export class LlamaQueryModel implements QueryModel {
  readonly name: string;
  readonly #model: LanguageModel;
  readonly #sequence: ModelSequence;
  #neutral: { readonly key: string; readonly scores: readonly number[] } | undefined;

  /** @throws RangeError where the model was loaded for no further sequence */
  constructor(model: LanguageModel) {
    this.name = model.info.name;
    this.#model = model;
    this.#sequence = model.openSequence();
  }

  async scoreLabels(prompt: string, neutralPrompt: string, labels: readonly string[]): Promise<readonly number[]> {
    const neutral = await this.#neutralScores(neutralPrompt, labels);
    const scores = await this.#labelScores(prompt, labels);
    return scores.map((score, index) => score - neutral[index]!);
  }

  async writeLine(prompt: string): Promise<string> {
    const { text } = await this.#sequence.generate(await this.#unread(prompt), {
      maxTokens: LONGEST_LINE_TOKENS,
      stopTexts: ['\n'],
    });
    return text.trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sequence.dispose();
  }

  /** The last neutral prompt is that of all questions with the same labels. */
  async #neutralScores(prompt: string, labels: readonly string[]): Promise<readonly number[]> {
    const key = JSON.stringify([prompt, labels]);
    if (this.#neutral?.key !== key) this.#neutral = { key, scores: await this.#labelScores(prompt, labels) };
    return this.#neutral.scores;
  }

  /** Mean ln p of the tokens of each label behind the prompt. */
  async #labelScores(prompt: string, labels: readonly string[]): Promise<number[]> {
    const scores: number[] = [];
    for (const label of labels) {
      const continuation = this.#model.tokenizeText(` ${label}`);
      const { logProbabilities } = await this.#sequence.score(await this.#unread(prompt), continuation);
      scores.push(logProbabilities.reduce((sum, value) => sum + value, 0) / logProbabilities.length);
    }
    return scores;
  }

  /** The tokens of a prompt that the sequence does not hold yet, two at least; what it holds besides is erased. */
  async #unread(prompt: string): Promise<TokenId[]> {
    const { bosToken } = this.#model.info;
    const tokens = [
      ...(bosToken === undefined ? [] : [bosToken]),
      ...this.#model.tokenizeText(prompt, { first: true }),
    ];
    const held = this.#sequence.tokens;
    const differs = tokens.findIndex((token, index) => token !== held[index]);
    const common = Math.max(0, Math.min(differs === -1 ? tokens.length : differs, tokens.length - 2));
    await this.#sequence.truncate(common);
    return tokens.slice(common);
  }
}
