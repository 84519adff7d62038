import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attribute } from '../../src/eval/run/attribution/attribute.ts';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { failedChecks, passedChecks } from './bench-fixture.ts';
import { type FinishedRun, finishedRun } from './finished-run.ts';

const ITEMS = 10;
const evicting = ['dki-evict-knorm:.5', 'dki-evict-keydiff:.25@alpha=0.5', 'dki-blocks-evict-random:.5'];
const whole = ['dki-evict-knorm:0', 'dki-blocks-evict-knorm:0'];
const quantised = ['dki@store=q8_0', 'dki-blocks@store=q8_0', 'dki-blocks@store=q4_0'];
const arms = ['rag', 'dki', 'dki-blocks', ...whole, ...evicting, 'dki@store=f16', ...quantised];
/** Bits of a stored number, with its share of the scale of 32. */
const bits = { q8_0: 8.5, q4_0: 4.5 };

describe('a run with evicted and quantised KV', () => {
  let run: FinishedRun;
  let results: RunResults;

  beforeAll(async () => {
    run = await finishedRun(arms, ITEMS);
    ({ results } = run);
  });
  afterAll(() => run[Symbol.asyncDispose]());

  const turnsOf = (arm: string) => run.turnsOf(arm).filter(({ observed }) => observed.injectableMemories > 0);
  const byItem = (arm: string) => new Map(turnsOf(arm).map((turn) => [turn.itemId, turn]));

  it('passes the checks of what is injected', () => {
    expect(failedChecks(results)).toEqual([]);
    expect(passedChecks(results)).toEqual(
      expect.arrayContaining(['token identity', 'token accounting', 'cells', 'numerical parity']),
    );
    const { evidence } = results.checks.find(({ check }) => check === 'effect')!;
    for (const arm of [...evicting, ...quantised]) expect(evidence).not.toContain(arm);
    for (const arm of whole) expect(evidence).toContain(arm);
    expect(arms.flatMap((arm) => run.turnsOf(arm))).toHaveLength(ITEMS * arms.length);
  });

  it.each(evicting)('%s fills fewer cells, stores fewer bytes, and evaluates as much', (arm) => {
    const plain = byItem(arm.includes('blocks') ? 'dki-blocks' : 'dki');
    const ratio = Number(/:(\.\d+)/.exec(arm)![1]);
    for (const turn of turnsOf(arm)) {
      const other = plain.get(turn.itemId)!;
      const [left, all] = [turn.tokens.kvResident, other.tokens.kvResident];
      expect(left).toBeLessThan(all);
      expect(left).toBeGreaterThan((1 - ratio) * all - 1);
      expect(turn.tokens.positions).toBe(other.tokens.positions);
      expect(turn.tokens.evaluated - turn.account.built).toBe(other.tokens.evaluated - other.account.built);
      expect(turn.prefill!.sizeBytes).toBeLessThan(other.prefill!.sizeBytes);
      expect(turn.prefill).toMatchObject({ evicted: arm.replace(/^dki-(blocks-)?evict-|@.*$/g, '') });
    }
  });

  it.each([
    ['dki-evict-knorm:0', 'dki'],
    ['dki-blocks-evict-knorm:0', 'dki-blocks'],
  ])('%s drops nothing, and is %s bit by bit', (arm, plain) => {
    const scores = (name: string) => turnsOf(name).map(({ observed, answer }) => [answer.text, observed.goldTokens]);
    expect(scores(arm)).toEqual(scores(plain));
    expect(turnsOf(arm).length).toBeGreaterThan(0);
  });

  it('an f16 store is the text bit by bit, a quantised one is not', () => {
    const golds = (arm: string) => turnsOf(arm).map(({ observed }) => observed.goldLogProbability);
    expect(golds('dki@store=f16')).toEqual(golds('dki'));
    expect(golds('dki@store=q8_0')).not.toEqual(golds('dki'));
    expect(turnsOf('dki@store=f16').every(({ observed }) => observed.parity!.bitwiseEqual)).toBe(true);
  });

  it.each(['q8_0', 'q4_0'] as const)('blocks of %s take its bits a number, and as many cells and tokens', (type) => {
    const plain = byItem('dki-blocks');
    for (const turn of turnsOf(`dki-blocks@store=${type}`)) {
      const other = plain.get(turn.itemId)!;
      expect(turn.prefill).toMatchObject({ keptAs: type });
      expect(turn.prefill!.sizeBytes / other.prefill!.sizeBytes).toBeCloseTo(bits[type] / 16, 10);
      expect(turn.tokens).toEqual({ ...other.tokens, generated: turn.tokens.generated });
    }
    expect(plain.size).toBeGreaterThan(0);
  });

  it.each([...evicting, ...quantised])('an answer of %s is computed again without each memory', async (arm) => {
    const isMemory = ({ role }: { readonly role: string }) => role === 'memory';
    const turn = turnsOf(arm).find(({ prompt }) => prompt.segments.filter(isMemory).length > 1)!;
    const { memories } = await attribute(turn, run.engine);
    expect(memories.length).toBeGreaterThan(1);
    expect(memories.every(({ logProbability }) => logProbability < 0)).toBe(true);
  });
});
