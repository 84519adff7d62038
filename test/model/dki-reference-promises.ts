import { afterAll, beforeAll, expect, it } from 'vitest';
import { foundMemories, openParts, storeIn } from '../../scripts/open-parts.ts';
import { type BenchDatabase, openDatabase } from '../../src/store/database.ts';
import type { onOff } from '../../src/config/bench-config.ts';
import type { NumberType } from '../../src/engine/sequence-state.ts';
import type { TokenRange } from '../../src/engine/token-id.ts';
import { llamaCpp } from '../../src/engine/llama-cpp/llama-cpp-adapter.ts';
import { modelFileOf } from '../../src/engine/gguf/model-file.ts';
import type { PromptSegment } from '../../src/store/records/prompt-info.ts';
import { DKISystem, type DKISystemParts } from '../../src/systems/dki-system.ts';
import { makingOf, recipeName, parseRecipe } from '../../src/systems/prefill/join-recipe.ts';
import type { OpenEngine } from '../../src/systems/answer-turn.ts';
import { type JoinedPrompt, largestDifference, ReferenceModel } from '../reference/reference-model.ts';
import { memoriesOf, scoreBehind } from './dki-fixture.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

type Prefill = NonNullable<DKISystemParts['prefill']>;

/** A model with random weights, how llama.cpp is opened with it, and how near in ln p, where p ≥ 1e-6, it must be. */
export interface ReferenceSubject {
  readonly shape: string;
  readonly flashAttention: (typeof onOff)[number];
  readonly kvType: NumberType;
  readonly bound: number;
}

export const EXACT = { kvType: 'F32', bound: 1e-4 } as const;
export const HALF = { kvType: 'F16', bound: 0.03 } as const;

const STRATEGIES: readonly (readonly [Prefill, number])[] = [
  ['prefix', 1],
  ['prefix', 0.5],
  [parseRecipe('blocks'), 1],
  [parseRecipe('blocks'), 0.5],
  [parseRecipe('parallel'), 1],
  [parseRecipe('blocks', { context: 'none' }), 1],
  [parseRecipe('blocks', { context: 'previous' }), 1],
  [parseRecipe('parallel', { temperature: 0.7 }), 0.5],
  [parseRecipe('blocks', { sink: { tokens: 2, kept: false } }), 1],
  [parseRecipe('blocks', { sink: { tokens: 3, kept: true } }), 0.5],
  [parseRecipe('parallel', { context: 'none', sink: { tokens: 4, kept: true }, temperature: 0.7 }), 1],
  [parseRecipe('parallel', { context: 'previous', temperature: 1.5 }), 1],
  [parseRecipe('link:1', { context: 'previous' }), 1],
  [parseRecipe('link:1'), 1],
  [parseRecipe('link:3'), 0.5],
  [parseRecipe('random:.3'), 1],
  [parseRecipe('ranked:.3'), 0.5],
];
const memories = memoriesOf('My dog is Brenko.', 'I live in Port Dral.', 'Tea.');

/** The prompt of a turn as the reference takes it. */
function joinedPrompt(
  segments: readonly PromptSegment[],
  prefill: Prefill,
  alpha: number,
  recomputed: readonly TokenRange[],
): JoinedPrompt {
  const ids = (part: readonly PromptSegment[]): number[] => part.flatMap(({ tokenIds }) => tokenIds);
  const first = segments.findIndex(({ role }) => role === 'memory');
  const last = segments.findLastIndex(({ role }) => role === 'memory');
  const blocks = segments.slice(first, last + 1).map(({ tokenIds }) => tokenIds);
  return {
    header: ids(segments.slice(0, first)),
    // A prefix is one block of everything.
    blocks: prefill === 'prefix' ? [blocks.flat()] : blocks,
    suffix: ids(segments.slice(last + 1)),
    ...(prefill === 'prefix'
      ? {}
      : (({ positions, context, sink, temperature }) => ({ positions, context, sink, temperature }))(prefill)),
    ...(recomputed.length === 0
      ? {}
      : { recomputed: ({ position }) => recomputed.some(({ start, end }) => start <= position && position < end) }),
    alpha,
  };
}

/** Every way to prefill gives the distribution of an independent computation. */
export function referencePromises({ shape, flashAttention, kvType, bound }: ReferenceSubject): void {
  let opened: OpenEngine;
  let reference: ReferenceModel;
  const folder = temporaryFolder();
  let database: BenchDatabase;
  let stores = 0;
  beforeAll(async () => {
    database = openDatabase({ path: folder.file('chat.sqlite') });
    const model = `random:${shape}`;
    const engine = await llamaCpp.opener({ flashAttention }).open({ model, kvType, contextTokens: 512, sessions: 2 });
    opened = { engine, session: await engine.openSession('turns') };
    reference = ReferenceModel.read(await modelFileOf(model));
  });
  afterAll(async () => {
    await opened.engine[Symbol.asyncDispose]();
    database.close();
  });

  it.each(
    STRATEGIES.map(([prefill, alpha]) => ({
      name: prefill === 'prefix' ? prefill : [recipeName(prefill), JSON.stringify(makingOf(prefill) ?? {})].join(' '),
      prefill,
      alpha,
    })),
  )(`$name with alpha $alpha is within ${bound} of an independent computation`, async ({ prefill, alpha }) => {
    await using system = new DKISystem({
      ...openParts(opened, database),
      openStore: storeIn(folder.file(`store-${stores++}`), 2 ** 26),
      prefill,
      alpha,
    });
    const request = {
      query: 'Who?',
      sessionId: 's',
      userId: 'u',
      maxNewTokens: 1,
      includeHistory: false,
      retrieved: foundMemories(memories),
    };
    // The second turn: from what was kept.
    await system.chat(request);
    const response = await system.chat(request);
    expect(response.trace.account.cache).toBe('hit');
    const { next } = await scoreBehind(opened, response, ' yes');
    const { prefill: record } = response.trace;
    const recomputed = record === null || record.strategy === 'prefix' ? [] : record.recomputed;
    expect(recomputed.length > 0).toBe(prefill !== 'prefix' && prefill.recompute !== null);
    const expected = reference.joinedLogits(joinedPrompt(response.promptInfo.segments, prefill, alpha, recomputed));
    expect(largestDifference(expected.at(-1)!, next)).toBeLessThan(bound);
  });
}
