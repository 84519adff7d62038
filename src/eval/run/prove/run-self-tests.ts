import { knownLanguage } from '../../../base/language.ts';
import type { BenchConfig } from '../../../config/bench-config.ts';
import type { CallOptions } from '../../../engine/engine-session.ts';
import type { Engine } from '../../../engine/engine.ts';
import { type TokenId, commonLength } from '../../../engine/token-id.ts';
import {
  type BuiltPrompt,
  type PromptRules,
  buildPrompt,
  prefixParts,
  turnTexts,
} from '../../../systems/prompt/build-prompt.ts';
import { chooseAnswerPrefix, noAnswerPrefix } from '../../../systems/prompt/prompt-form.ts';
import { openPromptForm } from '../../../systems/prompt/chat-form.ts';
import { PromptTokenizer } from '../../../systems/prompt/prompt-tokenizer.ts';
import type { DatasetUser } from '../../../data/dataset.ts';
import { registeredMetrics } from '../../analysis/metrics/metric-selection.ts';
import { metricsSelfTest } from '../../analysis/metrics/metrics-self-test.ts';
import type { RunProbes } from '../../../store/records/run-probes.ts';
import { itemQuestion } from '../data-to-system-input.ts';
import { promptRules } from '../system-parts-from-options.ts';
import { probeEmbedder, probeRetriever } from './embedder-and-retriever-probes.ts';
import { cellsSelfTest, paritySelfTest } from './engine-self-tests.ts';
import type { RunBench } from '../open-run-resources.ts';
import type { ModelSelfTest, SelfTestStore } from './self-test-store.ts';

const PROMPTS = 20;
/** Each prompt is evaluated up to five times, so that longer ones would take minutes; longer turns are proven during the run. */
const LONGEST_PROMPT = 2048;
/** Time in ms that the parity self-test may take at least, and share of the run's estimated time. */
const MIN_BUDGET_MS = 2000;
const SHARE = 0.02;

/** Prompts of the data set's own text: the first memories of a user and one of their questions. */
async function samplePrompts(
  engine: Engine,
  users: readonly DatasetUser[],
  rules: Omit<PromptRules, 'windowTokens'>,
  topK: number,
): Promise<readonly { readonly user: DatasetUser; readonly prompt: BuiltPrompt }[]> {
  const tokenizer = new PromptTokenizer(engine);
  const form = await openPromptForm(rules.template, engine);
  const questions = users.flatMap((user) => user.items.map((item) => ({ user, item })));
  const step = Math.max(1, Math.floor(questions.length / PROMPTS));
  const samples = questions.filter((_, index) => index % step === 0).slice(0, PROMPTS);
  return Promise.all(
    samples.map(async ({ user, item }) => {
      const asked = itemQuestion(item, user);
      const answerPrefix = chooseAnswerPrefix(rules.answerPrefix ?? noAnswerPrefix, item.answerPrefix, asked);
      const memories = user.memories.slice(0, topK).map((memory) => ({ ...memory, score: 1, metadata: memory }));
      const parts = { ...turnTexts(asked, rules), memories, history: item.history, answerPrefix };
      const windowTokens = Math.min(LONGEST_PROMPT + (rules.reserveTokens ?? 0), engine.info.contextTokens);
      const prompt = await buildPrompt({ query: item.query, ...parts }, { ...rules, windowTokens }, tokenizer, form);
      return { user, prompt };
    }),
  );
}

/** Number of token ids that would change if the whole prompt were tokenised as one text. */
async function differingIds(engine: Engine, { tokenIds, info }: BuiltPrompt): Promise<number> {
  const own = tokenIds.slice(engine.info.bosToken === null ? 0 : 1);
  const isChat = info.segments.some(({ role }) => role === 'template');
  const text = info.finalPrompt;
  const [joined = []] = await engine.tokenize([isChat ? { text, as: 'template' } : { text, as: 'text', first: true }]);
  const start = commonLength(own, joined);
  const end = commonLength(own.slice(start).reverse(), joined.slice(start).reverse());
  return Math.max(own.length, joined.length) - start - end;
}

/** Tests cells on the first prompt with two memories. If there is none, cuts one memory in two. */
async function testCells(
  engine: Engine,
  samples: readonly { readonly prompt: BuiltPrompt }[],
  continuations: readonly (readonly TokenId[])[],
  { signal }: CallOptions,
): Promise<Pick<RunProbes, 'cells'>> {
  const prompts = samples.map(({ prompt }, index) => {
    const { header, lines, suffix } = prefixParts(prompt);
    return { header, lines: lines.map(({ tokenIds }) => tokenIds), suffix, continuation: continuations[index]! };
  });
  const one = prompts.find(({ lines }) => (lines[0]?.length ?? 0) >= 2 * engine.capabilities.leastTokens);
  const two = prompts.find(({ lines }) => lines.length > 1) ?? (one && { ...one, lines: halves(one.lines[0]!) });
  return two === undefined ? {} : { cells: await cellsSelfTest(engine, two, { signal }) };
}

function halves(line: readonly TokenId[]): readonly (readonly TokenId[])[] {
  const middle = Math.floor(line.length / 2);
  return [line.slice(0, middle), line.slice(middle)];
}

export interface SelfTestHooks {
  readonly signal: AbortSignal;
  /** Results of earlier runs; undefined: always test again. */
  readonly store: SelfTestStore | undefined;
  readonly onStep?: ((done: number, total: number) => void) | undefined;
}

type SelfTests = Pick<RunProbes, 'parity' | 'cells' | 'metrics' | 'embedder' | 'retrieverProbe' | 'tokenisation'>;

/**
 * Tests, before any arm runs, the engine's rounding, cells, metrics, embedder, retriever and tokenisation.
 * @returns `testedAt`: when rounding and cells were tested, ms since 1970, if their result was stored; else undefined
 */
export async function runSelfTests(
  bench: Pick<RunBench, 'engine' | 'embeddings' | 'users' | 'planned' | 'openProbeRetriever'>,
  config: BenchConfig,
  hooks: SelfTestHooks,
): Promise<{ readonly tests: SelfTests; readonly testedAt: number | undefined }> {
  const { engine, embeddings, users, openProbeRetriever } = bench;
  const samples = await samplePrompts(engine, users, promptRules(config), config.topK);
  // An item with nuggets is scored by these: its answer is never a gold of the metrics under test.
  const asked = users.flatMap(({ items, languageProfile }) =>
    items.map(({ answer, nuggets, language = languageProfile.language }) => ({
      answer: nuggets === undefined ? answer : null,
      language,
    })),
  );
  const byLanguage = [...Map.groupBy(asked, ({ language }) => language)];
  const golds = new Map(byLanguage.map(([language, items]) => [language, items.flatMap(({ answer }) => answer ?? [])]));
  // There are no test sentences for other languages: English ones replace them.
  const tried = [...new Set([...golds.keys()].map((language) => knownLanguage(language) ?? 'en'))];
  const differing = await Promise.all(samples.map(({ prompt }) => differingIds(engine, prompt)));
  const { testedAt, tests } = await modelSelfTest(bench, samples, hooks);
  return {
    testedAt,
    tests: {
      ...tests,
      metrics: metricsSelfTest(golds, { seed: config.seed, own: registeredMetrics() }),
      embedder: await probeEmbedder(embeddings, tried),
      ...(openProbeRetriever === undefined
        ? {}
        : { retrieverProbe: await probeRetriever(openProbeRetriever, embeddings, tried) }),
      tokenisation: {
        prompts: samples.length,
        tokens: samples.reduce((sum, { prompt }) => sum + prompt.tokenIds.length, 0),
        differing: differing.reduce((sum, ids) => sum + ids, 0),
      },
    },
  };
}

/** Tests rounding and cells, or takes a stored result for the same prompts. */
async function modelSelfTest(
  { engine, planned }: Pick<RunBench, 'engine' | 'planned'>,
  samples: Awaited<ReturnType<typeof samplePrompts>>,
  { signal, store, onStep }: SelfTestHooks,
): Promise<{ readonly testedAt?: number; readonly tests: ModelSelfTest }> {
  const continuations = await engine.tokenize(
    samples.map(({ user }) => ({ text: ` ${user.languageProfile.unknownAnswer}`, as: 'text' })),
  );
  const prompts = samples.map(({ prompt: { tokenIds } }, index) => ({
    prompt: tokenIds,
    continuation: continuations[index]!,
  }));
  const stored = store?.find(engine.info, prompts);
  if (stored !== undefined) return stored;
  const turns = planned.reduce((sum, user) => sum + user.turns, 0);
  const cells = await testCells(engine, samples, continuations, { signal });
  const budgetOf = (wholeMs: number): number => Math.max(MIN_BUDGET_MS, SHARE * turns * wholeMs);
  const parity = await paritySelfTest(engine, prompts, { budgetOf, onPrompt: onStep, signal });
  const tests = { parity, ...cells };
  store?.keep(engine.info, prompts, tests);
  return { tests };
}
