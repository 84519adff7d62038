import { describe, expect, it } from 'vitest';
import { changedTurn } from '../../../../test/fixtures/check-input.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { AnsweredTurn } from '../../../store/records/turn-record.ts';
import { armRegistry } from '../../../systems/arms/arm-registry.ts';
import { metricsOfRun } from '../metrics/metric-selection.ts';
import { splitByCache } from './arms-by-role.ts';
import { randomControl, hasRandomControls, describeMethod, methodResults } from './kv-method-results.ts';

const traitsOf = (...names: string[]): readonly ArmTraits[] =>
  armRegistry.named(names, { alpha: 1, gatingThreshold: 0 }).map(({ traits }) => traits);
const { primary } = metricsOfRun({ dataset: {} });

describe('the method of an arm', () => {
  it.each([
    ['rag', 'rag', 'reference', null],
    ['dki-link:4', 'dki-link', 'recomputed', '4'],
    ['dki-first:.15', 'dki-first', 'recomputed', '.15'],
    ['dki-random:ranked:.3', 'dki-random:ranked', 'recomputed', '.3'],
    ['dki-first:.15@alpha=0.5', 'dki-first@alpha=0.5', 'recomputed', '.15'],
    ['dki-random:ranked:.15@run=16', 'dki-random:ranked@run=16', 'recomputed', '.15'],
    ['dki-blocks-evict-knorm:.5', 'dki-blocks-evict-knorm', 'evicted', '.5'],
    ['dki-blocks@store=q4_0', 'dki-blocks@store', 'quantised', 'q4_0'],
    ['dki-blocks@store=f16', 'dki-blocks@store=f16', 'reference', null],
    ['dki-blocks@context=previous', 'dki-blocks@context=previous', 'made', null],
  ])('is its name without the budget: %s', (name, method, kind, budget) => {
    expect(describeMethod(traitsOf(name)[0]!)).toEqual({ method, kind, budget });
  });

  it('is tested against as many tokens drawn at random, of the same blocks and by the same settings', () => {
    const random = ['dki-random:.15', 'dki-random:.3', 'dki-random:ranked:.3', 'dki-random:.3@context=previous'];
    const runs = ['dki-random:.3@run=16', 'dki-random:ranked:.3@run=16@budget=all'];
    const evicting = ['dki-evict-random:.5', 'dki-blocks-evict-random:.5', 'dki-blocks-evict-knorm:.5@repair=1:random'];
    const controls = traitsOf(...random, ...runs, ...evicting);
    const control = (name: string) => randomControl(traitsOf(name)[0]!, [...traitsOf(name), ...controls])?.name;
    const tested = {
      'dki-first:.3': 'dki-random:.3',
      'dki-ranked:.3': 'dki-random:ranked:.3',
      'dki-first:.3@context=previous': 'dki-random:.3@context=previous',
      'dki-cacheblend:.3@run=16': 'dki-random:.3@run=16',
      'dki-ranked:.3@budget=all': 'dki-random:ranked:.3@run=16@budget=all',
      'dki-evict-knorm:.5': 'dki-evict-random:.5',
      'dki-blocks-evict-knorm:.5': 'dki-blocks-evict-random:.5',
      'dki-blocks-evict-knorm:.5@repair=1': 'dki-blocks-evict-knorm:.5@repair=1:random',
    };
    expect(Object.keys(tested).map(control)).toEqual(Object.values(tested));
    const others = ['rag', 'dki-blocks', 'dki-link:4', 'dki-first:1', 'dki-first:.5', 'dki-cacheblend:.3@run=8'];
    for (const name of [...others, ...random, ...evicting]) expect(control(name), name).toBeUndefined();
  });
});

it('a rule beside as many random tokens makes a comparison of methods, a rule alone none', () => {
  const alone = ['rag', 'dki-first:.3', 'dki-random:.15', 'dki-link:4', 'dki-evict-knorm:.5'];
  expect(hasRandomControls(traitsOf(...alone))).toBe(false);
  expect(hasRandomControls(traitsOf('rag', 'dki-first:.3', 'dki-random:.3'))).toBe(true);
});

describe('the results of methods', () => {
  const arms = traitsOf('rag', 'dki', 'dki-random:.3', 'dki-first:.3', 'dki-cacheblend-oracle:.3');
  /** The text answers all of twelve users' questions, random tokens none, the others all. */
  const turns = Array.from({ length: 12 }, (_, user) =>
    arms.map(({ name }) => {
      const right = Number(!name.startsWith('dki-random'));
      const prefill = { sizeBytes: 3000, memoryLines: { tokens: 40, cells: 20 } } as AnsweredTurn['prefill'];
      const changes = {
        scores: { exactMatch: right, taskSuccess: right, evidenceRank: user < 6 ? 1 : 5 },
        timings: { firstToken: name === 'rag' ? 40 : name === 'dki' ? 11 : 20, kvLoad: 1 },
        account: { resident: 30, recomputed: name.includes('first') ? 6 : 0 },
      };
      const place = { userId: `u${user}`, itemId: `i${user}`, prefill: name === 'dki-first:.3' ? prefill : null };
      return changedTurn(name, changes, place);
    }),
  ).flat();
  const results = methodResults(turns, arms, {
    ...{ primary, effects: new Map(), seed: 7 },
    split: splitByCache(turns, arms),
  });
  const of = (arm: string) => results.find((one) => one.arm === arm)!;

  it('count bytes a token of memories, and times beside the question alone', () => {
    // 20 of 30 cells are of memories, and stand for 40 tokens.
    expect(of('dki-first:.3')).toMatchObject({ bytesPerMemoryToken: 50, recomputedTokens: 6, budget: '.3' });
    expect(of('rag').bytesPerMemoryToken).toBeNull();
    expect(of('dki-first:.3').timesQueryOnly!.mean).toBeCloseTo(2, 10);
    expect(of('dki').timesQueryOnly!.mean).toBeCloseTo(1.1, 10);
    expect(of('rag').timesQueryOnly).toMatchObject({ n: 12, users: 12 });
  });

  it('have no recomputed tokens without a cache hit', () => {
    const cold = turns.map((turn) => ({ ...turn, account: { ...turn.account, cache: 'miss' as const } }));
    const settings = { primary, effects: new Map(), seed: 7, split: splitByCache(cold, arms) };
    const first = methodResults(cold, arms, settings).find(({ arm }) => arm === 'dki-first:.3');
    expect(first).toMatchObject({ recomputedTokens: null, timesQueryOnly: null });
  });

  it('test what can be deployed against random tokens, and show a bound without a test', () => {
    expect(of('dki-first:.3').againstRandom).toMatchObject({
      ...{ b: 'dki-random:.3', delta: 1, wins: 12, losses: 0, outcome: 'better' },
      ...{ p: 2 / 2 ** 12, pAdjusted: 2 / 2 ** 12 },
    });
    expect(of('dki-cacheblend-oracle:.3').againstRandom).toMatchObject({ delta: 1, p: null, outcome: 'not tested' });
    for (const arm of ['rag', 'dki', 'dki-random:.3']) expect(of(arm).againstRandom).toBeNull();
  });

  it('are given by rank of the evidence, all ranks behind the second as one', () => {
    expect(of('dki-random:.3').byRank).toMatchObject([
      { rank: 'first', quality: { mean: 0, n: 6 }, difference: { delta: -1 } },
      { rank: 'later', quality: { mean: 0, n: 6 }, difference: { delta: -1 } },
    ]);
    expect(of('rag').byRank.map(({ difference }) => difference)).toEqual([null, null]);
  });
});
