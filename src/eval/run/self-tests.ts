import { grammars } from '../../config/grammar.ts';
import type { LanguageModel } from '../../llm/language-model.ts';
import { paritySelfTest } from '../../llm/parity-self-test.ts';
import { buildPrompt, type BuiltPrompt, type PromptRules } from '../../systems/prompt/build-prompt.ts';
import { promptFormOf } from '../../systems/prompt/chat-form.ts';
import { PromptTokenizer } from '../../systems/prompt/prompt-tokenizer.ts';
import type { DatasetUser } from '../dataset/dataset.ts';
import { groupBy } from '../group-by.ts';
import { metricsGate } from '../metrics/self-test.ts';
import type { RunDescription } from '../results.ts';
import type { RunProbes } from './run-probes.ts';

const PROMPTS = 20;

/** Prompts of the data set's own text: the first memories of a user and one of their questions. */
function samplePrompts(
  model: LanguageModel,
  users: readonly DatasetUser[],
  rules: Omit<PromptRules, 'windowTokens'>,
  topK: number,
): { readonly user: DatasetUser; readonly prompt: BuiltPrompt }[] {
  const tokenizer = new PromptTokenizer(model, model.info.bosToken);
  const form = promptFormOf(rules.template, model);
  const questions = users.flatMap((user) => user.items.map((item) => ({ user, item })));
  const step = Math.max(1, Math.floor(questions.length / PROMPTS));
  return questions
    .filter((_, index) => index % step === 0)
    .slice(0, PROMPTS)
    .map(({ user, item }) => ({
      user,
      prompt: buildPrompt(
        {
          query: item.query,
          systemPrompt: grammars.en.systemPrompts[0]!,
          memories: user.memories.slice(0, topK).map((memory) => ({ ...memory, score: 1, metadata: memory })),
          history: item.history,
        },
        { ...rules, windowTokens: model.info.contextTokens },
        tokenizer,
        form,
      ),
    }));
}

/** Ids that tokenising the joined text would change: all between the common beginning and the common end. */
function differingIds(model: LanguageModel, prompt: BuiltPrompt): number {
  const own = prompt.tokenIds.slice(model.info.bosToken === undefined ? 0 : 1);
  const isChat = prompt.info.segments.some(({ role }) => role === 'template');
  // The data set's own text, which nobody generates behind.
  const joined = isChat
    ? model.tokenizeControl(prompt.info.finalPrompt)
    : model.tokenizeText(prompt.info.finalPrompt, { first: true });
  const shorter = Math.min(own.length, joined.length);
  let start = 0;
  while (start < shorter && own[start] === joined[start]) start++;
  let end = 0;
  while (end < shorter - start && own[own.length - 1 - end] === joined[joined.length - 1 - end]) end++;
  return Math.max(own.length, joined.length) - start - end;
}

/** What must be known before any arm runs: the noise floor of exactness, the metrics' honesty, the seams of tokens. */
export async function selfTests(
  model: LanguageModel,
  users: readonly DatasetUser[],
  settings: { readonly rules: Omit<PromptRules, 'windowTokens'>; readonly topK: number; readonly seed: number },
): Promise<Pick<RunProbes, 'parity' | 'metrics' | 'tokenisation'>> {
  const samples = samplePrompts(model, users, settings.rules, settings.topK);
  const prompts = samples.map(({ prompt }) => prompt);
  const speakers = groupBy(users, ({ speech }) => speech.language);
  const golds = new Map(
    [...speakers].map(([language, having]) => [
      language,
      having.flatMap(({ items }) => items.flatMap((item) => item.answer ?? [])),
    ]),
  );
  const tokenisation: RunDescription['tokenisation'] = {
    prompts: prompts.length,
    tokens: prompts.reduce((sum, prompt) => sum + prompt.tokenIds.length, 0),
    differing: prompts.reduce((sum, prompt) => sum + differingIds(model, prompt), 0),
  };
  return {
    parity: await paritySelfTest(
      model,
      samples.map(({ user, prompt }) => ({
        prompt: prompt.tokenIds,
        continuation: model.tokenizeText(` ${user.speech.unknownAnswer}`),
      })),
    ),
    metrics: metricsGate(golds, { seed: settings.seed }),
    tokenisation,
  };
}
