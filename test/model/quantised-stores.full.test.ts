import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeEngine, runBench } from '../../src/bench/compose.ts';
import { type BenchDatabase, openDatabase } from '../../src/store/database.ts';
import { RunRepository } from '../../src/store/run-repository.ts';
import { TurnRepository } from '../../src/store/turn-repository.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { attribute } from '../../src/eval/run/attribution/attribute.ts';
import { loadRunModel, runModel } from '../../src/eval/run/attribution/model-of-run.ts';
import type { RunResults } from '../../src/store/records/results.ts';
import type { AnsweredTurn } from '../../src/store/records/turn-record.ts';
import { failedChecks, passedChecks, smallConfig, TestFolder } from './bench-fixture.ts';

const quantised = ['dki@store=q8_0', 'dki-blocks@store=q8_0', 'dki-blocks@store=q4_0'];
const arms = ['rag', 'dki', 'dki-blocks', 'dki@store=f16', ...quantised];
const ITEMS = 10;
/** Bits of a number at rest, its share of the scale of 32 included. */
const bits = { q8_0: 8.5, q4_0: 4.5 };

describe('a run of the shipped model', () => {
  let folder: TestFolder;
  let config: ReturnType<typeof smallConfig>;
  let database: BenchDatabase;
  let results: RunResults;
  let turns: (AnsweredTurn & { readonly id: number })[];
  let engine: Engine;

  beforeAll(async () => {
    folder = new TestFolder();
    config = smallConfig(folder, { arms: arms.join(), run: 'small', limit: String(ITEMS) });
    results = (await runBench(config))[0]!;
    database = openDatabase({ path: config.db });
    const run = new RunRepository(database).findByName('small')!;
    turns = [...new TurnRepository(database).listByRun(run.id, {})].filter((turn) => turn.state === 'answered');
    engine = await loadRunModel(runModel(run), config.model, composeEngine);
  }, 240_000);
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
    database.close();
    folder[Symbol.dispose]();
  });

  const of = (arm: string) => turns.filter((turn) => turn.arm === arm && turn.observed.injectableMemories > 0);

  it('passes the checks of what is injected, and claims no bits of what was quantised', () => {
    expect(failedChecks(results)).toEqual([]);
    expect(passedChecks(results)).toEqual(
      expect.arrayContaining(['token identity', 'token accounting', 'cells', 'numerical parity']),
    );
    const { evidence } = results.checks.find(({ check }) => check === 'effect')!;
    for (const arm of quantised) expect(evidence).not.toContain(arm);
    const claims = new Map(results.arms.map(({ arm, traits }) => [arm, traits.equivalence]));
    expect(arms.map((arm) => claims.get(arm))).toEqual([
      ...['bitwise', 'bitwise', 'tokens', 'bitwise'],
      ...quantised.map(() => 'tokens'),
    ]);
  });

  it('an f16 store is the text bit by bit, a quantised one is not', () => {
    const golds = (arm: string) => of(arm).map(({ observed }) => observed.goldLogProbability);
    expect(golds('dki@store=f16')).toEqual(golds('dki'));
    expect(golds('dki@store=q8_0')).not.toEqual(golds('dki'));
    expect(of('dki@store=f16').every(({ observed }) => observed.parity!.bitwiseEqual)).toBe(true);
  });

  it.each(['q8_0', 'q4_0'] as const)(
    'blocks of %s take its bits a number, as many cells, and as much evaluation',
    (type) => {
      const whole = new Map(of('dki-blocks').map((turn) => [turn.itemId, turn]));
      for (const turn of of(`dki-blocks@store=${type}`)) {
        const other = whole.get(turn.itemId)!;
        expect(turn.prefill).toMatchObject({ keptAs: type });
        expect(turn.prefill!.sizeBytes / other.prefill!.sizeBytes).toBeCloseTo(bits[type] / 16, 10);
        expect(turn.tokens).toEqual({ ...other.tokens, generated: turn.tokens.generated });
      }
      expect(whole.size).toBeGreaterThan(0);
    },
  );

  it.each(quantised)('an answer of %s is computed again, with each memory left out', async (arm) => {
    const turn = of(arm).find(({ prompt }) => prompt.segments.filter(({ role }) => role === 'memory').length > 1)!;
    const { memories } = await attribute(turn, engine);
    expect(memories.length).toBeGreaterThan(1);
    expect(memories.every(({ logProbability }) => logProbability < 0)).toBe(true);
  });
});
