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

const evicting = ['dki-evict-knorm:.5', 'dki-evict-keydiff:.25@alpha=0.5', 'dki-blocks-evict-random:.5'];
const none = ['dki-evict-knorm:0', 'dki-blocks-evict-knorm:0'];
const arms = ['rag', 'dki', 'dki-blocks', ...none, ...evicting];
const ITEMS = 10;

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

  it('passes the checks of what is injected', () => {
    expect(failedChecks(results)).toEqual([]);
    expect(passedChecks(results)).toEqual(expect.arrayContaining(['token identity', 'token accounting', 'cells']));
    const { evidence } = results.checks.find(({ check }) => check === 'effect')!;
    for (const arm of evicting) expect(evidence).not.toContain(arm);
    for (const arm of none) expect(evidence).toContain(arm);
    expect(turns).toHaveLength(ITEMS * arms.length);
  });

  it.each(evicting)('%s fills fewer cells, stores fewer bytes, and evaluates as much', (arm) => {
    const whole = new Map(of(arm.includes('blocks') ? 'dki-blocks' : 'dki').map((turn) => [turn.itemId, turn]));
    const ratio = Number(/:(\.\d+)/.exec(arm)![1]);
    for (const turn of of(arm)) {
      const other = whole.get(turn.itemId)!;
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
    const scores = (name: string) => of(name).map(({ observed, answer }) => [answer.text, observed.goldTokens]);
    expect(scores(arm)).toEqual(scores(plain));
    expect(of(arm).length).toBeGreaterThan(0);
  });

  it.each(evicting)('an answer of %s is computed again, with each memory left out', async (arm) => {
    const turn = of(arm).find(({ prompt }) => prompt.segments.filter(({ role }) => role === 'memory').length > 1)!;
    const { memories } = await attribute(turn, engine);
    expect(memories.length).toBeGreaterThan(1);
    expect(memories.every(({ logProbability }) => logProbability < 0)).toBe(true);
  });
});
