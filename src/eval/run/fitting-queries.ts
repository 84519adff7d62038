import { BenchError } from '../../base/bench-error.ts';
import type { AskedData } from '../../data/asked-data.ts';
import type { DatasetItem, DatasetUser } from '../../data/dataset.ts';
import type { Arm } from '../../systems/arms/arm-registry.ts';
import { answerPrefixBy, noAnswerPrefix } from '../../systems/prompt/answer-prefix.ts';
import { buildPrompt, type PromptRules, reserveFor } from '../../systems/prompt/build-prompt.ts';
import { type ChatEngine, promptFormOf } from '../../systems/prompt/chat-form.ts';
import { PromptTokenizer } from '../../systems/prompt/prompt-tokenizer.ts';

/** The engine and the rules by which every question is asked. */
export interface AskingParts {
  readonly engine: ChatEngine & { readonly info: { readonly contextTokens: number } };
  readonly rules: Omit<PromptRules, 'windowTokens'>;
}

/**
 * Refuses the first question that does not fit into the window even alone, in one of the forms in which arms ask.
 * @throws BenchError `context-overflow` naming the item and its place
 */
export async function requireFittingQueries(
  users: readonly DatasetUser[],
  { parts }: Pick<AskedData, 'parts'>,
  arms: readonly Pick<Arm, 'template'>[],
  { engine, rules }: AskingParts,
): Promise<void> {
  const { contextTokens: windowTokens } = engine.info;
  const tokenizer = new PromptTokenizer(engine);
  const mostTokens = windowTokens - reserveFor(windowTokens, rules.reserveTokens);
  const templates = new Set(arms.map((arm) => arm.template ?? rules.template));
  const long = users.flatMap(({ items }) => items).filter((item) => mayExceed(item, mostTokens));
  for (const template of long.length === 0 ? [] : templates) {
    const form = await promptFormOf(template, engine, rules.memoryHeader);
    for (const item of long) {
      const answerPrefix = answerPrefixBy(rules.answerPrefix ?? noAnswerPrefix, item.answerPrefix);
      const alone = { query: item.query, systemPrompt: '', memories: [], history: [], answerPrefix };
      try {
        await buildPrompt(alone, { ...rules, windowTokens }, tokenizer, form);
      } catch (error) {
        if (!(error instanceof BenchError) || error.code !== 'context-overflow') throw error;
        const place = parts.map(({ places }) => places?.get(item.itemId)).find((found) => found !== undefined);
        const named = `${place === undefined ? '' : `${place}: `}item ${JSON.stringify(item.itemId)}`;
        throw new BenchError(error.code, `${named}: ${error.message}`, error.hint, error);
      }
    }
  }
}

/** A token takes a byte at least, and what stands around a question less than half of any window. */
function mayExceed({ query }: Pick<DatasetItem, 'query'>, mostTokens: number): boolean {
  return Buffer.byteLength(query) > mostTokens / 2;
}
