import { BenchError } from '../../base/bench-error.ts';
import type { DatasetUser } from '../../data/dataset.ts';
import type { Arm } from '../../systems/arms/arm-registry.ts';
import { sinkTokens } from '../../systems/prefill/seen-tokens.ts';
import { prefixParts } from '../../systems/prefill/prefix-parts.ts';
import { buildPrompt } from '../../systems/prompt/build-prompt.ts';
import { promptFormOf } from '../../systems/prompt/chat-form.ts';
import { PromptTokenizer } from '../../systems/prompt/prompt-tokenizer.ts';
import { systemPromptFor } from '../../systems/prompt/system-prompt.ts';
import type { AskingParts } from './fitting-queries.ts';

/** Any memory: what stands in front of memories does not depend on them. */
const MEMORY = { memoryId: 'm', content: 'x', score: 1, metadata: {} };

/**
 * Refuses an arm that puts more shared tokens in front of its blocks than some prompt has in front of its memories, before
 * any turn.
 * @throws BenchError `bad-option` naming the arm and the most that all prompts have
 */
export async function requireFittingSinks(
  users: readonly DatasetUser[],
  arms: readonly Pick<Arm, 'template' | 'traits'>[],
  { engine, rules }: AskingParts,
): Promise<void> {
  const tokenizer = new PromptTokenizer(engine);
  const items = users.flatMap((user) => user.items);
  // Prompts differ there by their system text alone.
  const systemPrompts = new Set(
    items.map(
      ({ query, language, systemPrompt }) =>
        systemPrompt ?? systemPromptFor({ query, ...(language === undefined ? {} : { language }) }, rules),
    ),
  );
  for (const { traits, template } of arms) {
    const { making, name, settings } = traits;
    if (making?.sink === undefined) continue;
    const form = await promptFormOf(template ?? rules.template, engine, rules.memoryHeader);
    const own = { ...rules, labels: settings.labels ?? rules.labels, windowTokens: engine.info.contextTokens };
    for (const systemPrompt of systemPrompts) {
      const parts = { query: '', systemPrompt, memories: [MEMORY], history: [] };
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
