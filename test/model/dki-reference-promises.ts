import { beforeAll, expect, it } from 'vitest';
import type { onOff } from '../../src/config/bench-config.ts';
import type { NumberType } from '../../src/engine/sequence-state.ts';
import { llamaCpp } from '../../src/engine/llama-cpp/llama-cpp-adapter.ts';
import { resolveModelFile } from '../../src/engine/gguf/model-file.ts';
import { type JoinedPrompt, largestDifference, ReferenceModel } from '../reference/reference-model.ts';
import { DkiTurns, memoriesOf, scoreBehind } from './dki-fixture.ts';

/** A model with random weights, how llama.cpp is opened with it, and how near in ln p, where p ≥ 1e-6, it must be. */
export interface ReferenceSubject {
  readonly shape: string;
  readonly flashAttention: (typeof onOff)[number];
  readonly kvType: NumberType;
  readonly bound: number;
}

export const EXACT = { kvType: 'F32', bound: 1e-4 } as const;
export const HALF = { kvType: 'F16', bound: 0.03 } as const;

/** Arms, and what they ask of the reference. */
const arms: readonly (readonly [string, Partial<JoinedPrompt>])[] = [
  ['dki', {}],
  ['dki@alpha=0.5', { alpha: 0.5 }],
  ['dki-blocks', {}],
  ['dki-blocks@alpha=0.5', { alpha: 0.5 }],
  ['dki-parallel', { positions: 'parallel' }],
  ['dki-blocks@context=none', { context: 'none' }],
  ['dki-blocks@context=previous', { context: 'previous' }],
  ['dki-parallel@temperature=0.7@alpha=0.5', { positions: 'parallel', temperature: 0.7, alpha: 0.5 }],
  ['dki-blocks@sink=2', { sink: { tokens: 2, kept: false } }],
  ['dki-blocks@sink=3:kept@alpha=0.5', { sink: { tokens: 3, kept: true }, alpha: 0.5 }],
  [
    'dki-parallel@context=none@sink=4:kept@temperature=0.7',
    { positions: 'parallel', context: 'none', sink: { tokens: 4, kept: true }, temperature: 0.7 },
  ],
  ['dki-parallel@context=previous@temperature=1.5', { positions: 'parallel', context: 'previous', temperature: 1.5 }],
  ['dki-link:1@context=previous', { context: 'previous' }],
  ['dki-link:1', {}],
  ['dki-link:3@alpha=0.5', { alpha: 0.5 }],
  ['dki-random:.3', {}],
  ['dki-ranked:.3@alpha=0.5', { alpha: 0.5 }],
];
const memories = memoriesOf('My dog is Brenko.', 'I live in Port Dral.', 'Tea.');

/** Every way to prefill gives the distribution of an independent computation. */
export function referencePromises({ shape, flashAttention, kvType, bound }: ReferenceSubject): void {
  const model = `random:${shape}`;
  const turns = new DkiTurns(llamaCpp.opener({ flashAttention }), model, { kvType });
  let reference: ReferenceModel;
  beforeAll(async () => {
    reference = ReferenceModel.read(await resolveModelFile(model));
  });

  it.each(arms)(`%s is within ${bound} of an independent computation`, async (arm, settings) => {
    await using system = turns.open(arm);
    const request = { query: 'Who?', maxNewTokens: 1 };
    // The second turn: from what was kept.
    await turns.ask(system, memories, request);
    const response = await turns.ask(system, memories, request);
    const { account, prefill } = response.trace;
    expect(account.cache).toBe('hit');
    const { next } = await scoreBehind(turns.opened, response);
    const recomputed = prefill === null || prefill.strategy === 'prefix' ? [] : prefill.recomputed;
    expect(recomputed.length > 0).toBe(/link|random|ranked/.test(arm));

    const { segments } = response.promptInfo;
    const first = segments.findIndex(({ role }) => role === 'memory');
    const last = segments.findLastIndex(({ role }) => role === 'memory');
    const ids = segments.map(({ tokenIds }) => tokenIds);
    const blocks = ids.slice(first, last + 1);
    const logits = reference.joinedLogits({
      header: ids.slice(0, first).flat(),
      // A prefix is one block of everything.
      blocks: prefill?.strategy === 'prefix' ? [blocks.flat()] : blocks,
      suffix: ids.slice(last + 1).flat(),
      ...(recomputed.length === 0
        ? {}
        : { recomputed: ({ position }) => recomputed.some(({ start, end }) => start <= position && position < end) }),
      ...settings,
    });
    expect(largestDifference(logits.at(-1)!, next)).toBeLessThan(bound);
  });
}
