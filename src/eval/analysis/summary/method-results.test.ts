import { describe, expect, it } from 'vitest';
import { answeredTurn } from '../../../../test/fixtures/turn-record.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { AnsweredTurn } from '../../../store/records/turn-record.ts';
import { armRegistry } from '../../../systems/arms/arm-registry.ts';
import { metricsOfRun } from '../metrics/run-metrics.ts';
import { cacheRegime } from './compared-arms.ts';
import { controlOf, hasControls, methodOf, methodResults } from './method-results.ts';

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
    expect(methodOf(traitsOf(name)[0]!)).toEqual({ method, kind, budget });
  });

  it('is tested against as many tokens drawn at random, of the same blocks and by the same settings', () => {
    const random = ['dki-random:.15', 'dki-random:.3', 'dki-random:ranked:.3', 'dki-random:.3@context=previous'];
    const runs = ['dki-random:.3@run=16', 'dki-random:ranked:.3@run=16@budget=all'];
    const evicting = ['dki-evict-random:.5', 'dki-blocks-evict-random:.5'];
    const controls = traitsOf(...random, ...runs, ...evicting);
    const control = (name: string): string | undefined => {
      const [arm] = traitsOf(name);
      return controlOf(arm!, [arm!, ...controls])?.name;
    };
    expect(control('dki-first:.3')).toBe('dki-random:.3');
    expect(control('dki-ranked:.3')).toBe('dki-random:ranked:.3');
    expect(control('dki-first:.3@context=previous')).toBe('dki-random:.3@context=previous');
    expect(control('dki-cacheblend:.3@run=16')).toBe('dki-random:.3@run=16');
    expect(control('dki-cacheblend:.3@run=8')).toBeUndefined();
    expect(control('dki-ranked:.3@budget=all')).toBe('dki-random:ranked:.3@run=16@budget=all');
    expect(control('dki-evict-knorm:.5')).toBe('dki-evict-random:.5');
    expect(control('dki-blocks-evict-knorm:.5')).toBe('dki-blocks-evict-random:.5');
    for (const name of ['rag', 'dki-blocks', 'dki-link:4', 'dki-first:1', 'dki-first:.5', ...random, ...evicting]) {
      expect(control(name)).toBeUndefined();
    }
  });
});

it('a rule beside as many random tokens makes a comparison of methods, a rule alone none', () => {
  expect(hasControls(traitsOf('rag', 'dki-first:.3', 'dki-random:.3'))).toBe(true);
  expect(hasControls(traitsOf('rag', 'dki-first:.3', 'dki-random:.15', 'dki-link:4', 'dki-evict-knorm:.5'))).toBe(
    false,
  );
});

describe('the results of methods', () => {
  const arms = traitsOf('rag', 'dki', 'dki-random:.3', 'dki-first:.3', 'dki-cacheblend-oracle:.3');
  /** The text answers all of twelve users' questions, random tokens none, the others all. */
  const turns = Array.from({ length: 12 }, (_, user) =>
    arms.map(({ name }): AnsweredTurn => {
      const made = answeredTurn(name, {
        injected: name !== 'rag',
        answer: name.startsWith('dki-random') ? ' Oslo' : ' Turin',
      });
      const rank = user < 6 ? 1 : 5;
      return {
        ...made,
        ...{ userId: `u${user}`, itemId: `i${user}`, scores: { ...made.scores, evidenceRank: rank } },
        timings: { ...made.timings, firstToken: name === 'rag' ? 40 : name === 'dki' ? 11 : 20, kvLoad: 1 },
        account: { ...made.account, resident: 30, recomputed: name.includes('first') ? 6 : 0 },
        prefill:
          name === 'dki-first:.3'
            ? ({ sizeBytes: 3000, memoryLines: { tokens: 40, cells: 20 } } as AnsweredTurn['prefill'])
            : null,
      };
    }),
  ).flat();
  const results = methodResults(turns, arms, {
    ...{ primary, effects: new Map(), seed: 7 },
    regime: cacheRegime(turns, arms),
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

  it('test what can be deployed against random tokens, and show a bound without a test', () => {
    expect(of('dki-first:.3').againstRandom).toMatchObject({
      ...{ b: 'dki-random:.3', delta: 1, wins: 12, losses: 0, outcome: 'better' },
      ...{ p: 2 / 2 ** 12, pAdjusted: 2 / 2 ** 12 },
    });
    expect(of('dki-cacheblend-oracle:.3').againstRandom).toMatchObject({ delta: 1, p: null, outcome: 'not tested' });
    expect([of('rag'), of('dki'), of('dki-random:.3')].map(({ againstRandom }) => againstRandom)).toEqual([
      ...[null, null, null],
    ]);
  });

  it('are given by rank of the evidence, all ranks behind the second as one', () => {
    expect(
      of('dki-random:.3').byRank.map(({ rank, quality, difference }) => [
        rank,
        quality.mean,
        quality.n,
        difference?.delta,
      ]),
    ).toEqual([
      ['first', 0, 6, -1],
      ['later', 0, 6, -1],
    ]);
    expect(of('rag').byRank.map(({ difference }) => difference)).toEqual([null, null]);
  });
});
