import { BenchError, catchBenchError } from '../../../base/bench-error.ts';
import type { RunDatasets } from '../../../data/join-datasets.ts';
import type { DatasetUser } from '../../../data/dataset.ts';
import type { Arm } from '../../../systems/arms/arm-registry.ts';
import {
  type PromptRules,
  buildPrompt,
  prefixParts,
  reserveFor,
  turnTexts,
} from '../../../systems/prompt/build-prompt.ts';
import { sinkTokens } from '../../../systems/prefill/join-recipe.ts';
import { chooseAnswerPrefix, noAnswerPrefix } from '../../../systems/prompt/prompt-form.ts';
import { type ChatEngine, openPromptForm } from '../../../systems/prompt/chat-form.ts';
import { PromptTokenizer } from '../../../systems/prompt/prompt-tokenizer.ts';

interface PromptParts {
  readonly engine: ChatEngine & { readonly info: { readonly contextTokens: number } };
  readonly rules: Omit<PromptRules, 'windowTokens'>;
}

/** Refuses a question that does not fit into the window even without memories. @throws BenchError `context-overflow` */
export async function requireFittingQueries(
  users: readonly DatasetUser[],
  { parts }: Pick<RunDatasets, 'parts'>,
  arms: readonly Pick<Arm, 'template'>[],
  { engine, rules }: PromptParts,
): Promise<void> {
  const { contextTokens: windowTokens } = engine.info;
  const tokenizer = new PromptTokenizer(engine);
  const mostTokens = windowTokens - reserveFor(windowTokens, rules.reserveTokens);
  const templates = new Set(arms.map((arm) => arm.template ?? rules.template));
  // Shorter questions fit: a token takes at least a byte, and the rest of a prompt less than half of any window.
  const long = users.flatMap(({ items }) => items).filter(({ query }) => Buffer.byteLength(query) > mostTokens / 2);
  for (const template of long.length === 0 ? [] : templates) {
    const form = await openPromptForm(template, engine);
    for (const item of long) {
      const answerPrefix = chooseAnswerPrefix(rules.answerPrefix ?? noAnswerPrefix, item.answerPrefix, item);
      const alone = { query: item.query, systemPrompt: '', memories: [], history: [], answerPrefix };
      const built = await catchBenchError(buildPrompt(alone, { ...rules, windowTokens }, tokenizer, form));
      if (!(built instanceof BenchError)) continue;
      if (built.code !== 'context-overflow') throw built;
      const place = parts.map(({ places }) => places?.get(item.itemId)).find((found) => found !== undefined);
      const named = `${place === undefined ? '' : `${place}: `}item ${JSON.stringify(item.itemId)}`;
      throw new BenchError(built.code, `${named}: ${built.message}`, built.hint, built);
    }
  }
}

/** Any memory will do: the tokens in front of memories are the same for all. */
const MEMORY = { memoryId: 'm', content: 'x', score: 1, metadata: {} };

/** Refuses an arm whose sink has more tokens than some prompt's header. @throws BenchError `bad-option` */
export async function requireFittingSinks(
  users: readonly DatasetUser[],
  arms: readonly Pick<Arm, 'template' | 'traits'>[],
  { engine, rules }: PromptParts,
): Promise<void> {
  const tokenizer = new PromptTokenizer(engine);
  const items = users.flatMap((user) => user.items);
  // In front of memories, prompts differ only in the system text and the memory header.
  const distinct = new Map(
    items.map((item) => {
      const texts = turnTexts(item, rules);
      return [JSON.stringify(texts), texts];
    }),
  );
  for (const { traits, template } of arms) {
    const { making, name, settings } = traits;
    if (making?.sink === undefined) continue;
    const form = await openPromptForm(template ?? rules.template, engine);
    const own = { ...rules, labels: settings.labels ?? rules.labels, windowTokens: engine.info.contextTokens };
    for (const texts of distinct.values()) {
      const parts = { query: '', ...texts, memories: [MEMORY], history: [] };
      const { header } = prefixParts(await buildPrompt(parts, own, tokenizer, form));
      try {
        sinkTokens(making, header);
      } catch (error) {
        if (!(error instanceof BenchError)) throw error;
        throw new BenchError(error.code, `--arms ${name}: ${error.message}`, error.hint, error);
      }
    }
  }
}
