import { describe, expect, it } from 'vitest';
import { handmadeTraits } from '../../../test/fixtures/arm-traits.ts';
import { runProbes } from '../../../test/fixtures/check-input.ts';
import { newRun, turnOf } from '../../../test/fixtures/stored-runs.ts';
import { answeredTurn, failedTurn } from '../../../test/fixtures/turn-record.ts';
import { runResults, type RunResults } from '../../store/records/run-results.ts';
import type { AnsweredTurn } from '../../store/records/turn-record.ts';
import { analyseRun } from './analyse-run.ts';
import type { EndedRun } from './summary/describe-run.ts';
import type { RunTurns } from './turns-by-arm.ts';

const arms = [
  handmadeTraits('rag'),
  handmadeTraits('dki', { injects: 'memories', reference: 'rag' }),
  handmadeTraits('rag-twin', { control: 'twin' }),
];

function run(changes: Partial<EndedRun> = {}): EndedRun {
  const { plan, ...rest } = newRun({ name: 'r', turns: [] });
  return {
    schemaVersion: 1,
    id: 'run-1',
    status: 'finished',
    startedAt: 0,
    finishedAt: 1000,
    ...rest,
    plan: { ...plan, arms, settings: { ...plan.settings, dataset: ['/data/ours.jsonl'] } },
    probes: { ...runProbes, notes: ['a note'] },
    ...changes,
  };
}

/** Three items of each user, asked of each arm; `dki` hits the cache from the second on, and the last is answered wrong. */
function turns(users: number): RunTurns {
  const answered = Array.from({ length: users }, (_, user) =>
    [0, 1, 2].flatMap((question) =>
      arms.map(({ name, injects }): AnsweredTurn => {
        const made = { itemId: `u${user}-q${question}`, userId: `u${user}`, arm: name, right: question < 2 };
        const base = turnOf(made) as AnsweredTurn;
        if (injects === 'nothing') return base;
        const { tokens, timings, observed } = answeredTurn(name, { injected: true });
        const cache = question === 0 ? 'miss' : 'hit';
        const account = { ...base.account, cache, built: 0 } as const;
        const firstToken = question === 0 ? 20 : 5;
        return { ...base, account, tokens, observed, timings: { ...timings, firstToken } };
      }),
    ),
  ).flat();
  return { answered, failed: [failedTurn('dki', 'no cell left', { itemId: 'u0-q9', userId: 'u0' })] };
}

/** The document as it is written. */
const written = (results: RunResults): unknown => JSON.parse(JSON.stringify(results));

describe('the results of a run', () => {
  it('hold the share of superseded answers beside each score, over the items with a superseded value', () => {
    const { answered, failed } = turns(2);
    const asked = answered.map((turn): (typeof answered)[number] => {
      const question = turn.itemId.at(-1);
      const isWrong = turn.scores.taskSuccess === 0;
      const item = { ...turn.item, category: question === '0' ? 'plain' : 'updated' };
      const wrongClass = isWrong && turn.userId === 'u0' ? 'superseded' : isWrong ? 'confused' : null;
      const superseded = question === '0' ? 0 : 2;
      return { ...turn, item: { ...item, superseded }, scores: { ...turn.scores, wrongClass } };
    });
    const [, dki] = analyseRun(run(), { answered: asked, failed }).arms;
    expect(dki!.metrics.superseded).toMatchObject({ mean: 0.25, n: 4, users: 2 });
    expect(dki!.wrong).toMatchObject({ superseded: 1, confused: 1 });
    const shares = dki!.breakdown.map(({ field, value, metrics }) => [field, value, metrics.superseded?.mean]);
    expect(shares.filter(([field]) => field === 'category')).toEqual([
      ['category', 'plain', undefined],
      ['category', 'updated', 0.25],
    ]);
    // Runs from before the count was stored.
    expect(analyseRun(run(), { answered, failed }).arms[1]!.metrics.superseded).toBeNull();
  });

  it('are read back from their document as they were, infinite bounds included', () => {
    const { answered, failed } = turns(1);
    const one = analyseRun(run(), { answered: answered.filter(({ itemId }) => itemId === 'u0-q1'), failed });
    for (const results of [analyseRun(run(), turns(6)), analyseRun(run(), turns(1)), one])
      expect(runResults.parse(written(results))).toEqual(results);
    expect(one.arms[0]!.metrics).toMatchObject({ exactMatch: { low: 0, high: 1 }, ttftMs: { low: 0, high: Infinity } });
    expect(written(one)).toMatchObject({ arms: [{ metrics: { ttftMs: { low: 0, high: null } } }, {}, {}] });
  });

  it('of one user are over its questions', () => {
    const { exactMatch } = analyseRun(run(), turns(1)).arms[0]!.metrics;
    expect(exactMatch).toMatchObject({ n: 3, users: 1 });
    expect([exactMatch!.low > 0, exactMatch!.high < 1]).toEqual([true, true]);
  });

  it('of random weights say nothing of quality, and are read back', () => {
    const results = analyseRun(run({ model: { ...run().model, name: 'random:tiny' } }), turns(6));
    expect(runResults.parse(written(results))).toEqual(results);
    expect(results.run.unknownQuality).toBe('random weights');
    expect(results.arms[1]).toMatchObject({
      metrics: { exactMatch: null, goldLogProbability: null },
      wrong: null,
      funnel: { kept: 18, answered: null },
      turns: { hit: 12, miss: 6, bypass: 0 },
    });
    expect(results.comparisons.map(({ metric }) => metric)).not.toContain('exactMatch');
  });

  it('divide the costs of every arm by the cache of the primary arm, and count its own hits', () => {
    const [rag, dki] = analyseRun(run(), turns(6)).arms;
    const shared = { n: 18, costHit: { turns: 12 } };
    expect(rag).toMatchObject({
      ...shared,
      turns: { hit: 0, miss: 0, bypass: 18 },
      hitRate: null,
      tokens: { evaluated: 43 },
    });
    expect(dki).toMatchObject({
      ...shared,
      turns: { hit: 12, miss: 6, bypass: 0 },
      errors: 1,
      hitRate: 12 / 18,
      tokens: { evaluated: 12 },
    });
    expect([dki?.costHit?.ttftMs.mean, dki?.costMiss?.ttftMs.mean, dki?.metrics.ttftMs?.mean]).toEqual([5, 20, 5]);
  });

  it('have nothing over hits where there is none', () => {
    const { answered, failed } = turns(6);
    const missed = answered.map((turn) => ({ ...turn, account: { ...turn.account, cache: 'miss' as const } }));
    const [rag, dki] = analyseRun(run(), { answered: missed, failed }).arms;
    for (const arm of [rag, dki]) expect(arm).toMatchObject({ tokens: null, costHit: null, metrics: { ttftMs: null } });
    expect(dki).toMatchObject({ hitRate: 0, turns: { hit: 0, miss: 18, bypass: 0 } });
  });

  it('compare every arm with the baseline and test the planned ones, latency against the twin', () => {
    const { comparisons, breakEven } = analyseRun(run(), turns(12));
    const metrics = ['exactMatch', 'ttftLogRatio', 'evaluatedTokens', 'ttftLogRatioAll', 'evaluatedTokensAll'];
    expect(comparisons.map(({ a, b, metric }) => `${a}/${b} ${metric}`)).toEqual(
      metrics.flatMap((metric) => [`dki/rag ${metric}`, `rag-twin/rag ${metric}`]),
    );
    const least = 2 / 2 ** 12;
    expect(comparisons.map(({ p, pAdjusted }) => [p, pAdjusted])).toEqual(
      [1, null, least, null, least, null, null, null, null, null].map((p) => [p, p]),
    );
    expect(comparisons.find(({ metric }) => metric === 'ttftLogRatio')).toMatchObject({
      ...{ verdict: 'faster', n: 24, means: { a: expect.closeTo(5, 9), b: expect.closeTo(10, 9) } },
    });
    const tokens = comparisons.find(({ metric }) => metric === 'evaluatedTokensAll');
    expect(tokens).toMatchObject({ n: 36, verdict: 'not judged' });
    const crossing = { arm: 'dki', against: 'rag', missMs: 20, hitMs: 5, textMissMs: 10, turn: 3 };
    expect(breakEven).toEqual([expect.objectContaining(crossing)]);
    const few = analyseRun(run(), turns(9)).comparisons.filter(({ p }) => p !== null);
    expect(new Set(few.map(({ metric, verdict }) => `${metric} ${verdict}`))).toEqual(
      new Set(['exactMatch identical', 'ttftLogRatio too few users', 'evaluatedTokens too few users']),
    );
    const alone = run({ plan: { ...run().plan, arms: arms.slice(1) } });
    expect(analyseRun(alone, turns(6)).comparisons).toEqual([]);
  });

  it('break quality down by kind of user, category, phrasing and language', () => {
    const { answered, failed } = turns(6);
    const some = answered.map((turn, index) => {
      const [userKind, language] = index < 18 ? (['large', 'en'] as const) : (['', 'zh'] as const);
      return { ...turn, item: { ...turn.item, userKind, language } };
    });
    const [rag] = analyseRun(run(), { answered: some, failed }).arms;
    const parts = rag!.breakdown.map(({ field, value, n }) => `${field} ${value} ${n}`);
    const languages = ['language en 6', 'language zh 12'];
    expect(parts).toEqual(['userKind large 6', 'category updated 18', 'phrasing held-out 18', ...languages]);
    expect(Object.keys(rag!.breakdown[0]!.metrics)).toEqual(['exactMatch', 'taskSuccess']);
    expect(rag?.breakdown.at(-1)?.metrics).toMatchObject({
      exactMatch: { mean: 2 / 3, n: 12 },
      memoryRecall: { mean: 2 / 3 },
      abstention: null,
    });
  });

  it('describe the run without the folders of the machine, and with the notes of its turns', () => {
    const { answered, failed } = turns(1);
    const forced = answered.map((turn) => ({ ...turn, facts: { ...turn.facts, forced: turn.arm === 'rag' } }));
    const { settings, notes, startedAt } = analyseRun(run(), { answered: forced, failed }).run;
    expect(settings).toMatchObject({ dataset: ['ours.jsonl'], margin: 2 });
    expect(notes).toEqual(['a note', 'forced truncation to the query alone: rag in 3 turns']);
    expect(startedAt).toBe('1970-01-01T00:00:00.000Z');
  });

  it('follow the metric that the data name, in its own unit and margin, each metric a family of tests', () => {
    const { answered, failed } = turns(12);
    const goldTokens = [{ token: 'Turin', logProbability: 0 }];
    const said = answered.map((turn) => ({
      ...turn,
      scores: { ...turn.scores, contains: turn.arm === 'rag' ? 1 : 0 },
      observed: { ...turn.observed, goldTokens, parity: null, goldLogProbability: turn.arm === 'rag' ? -1 : -1.04 },
    }));
    const judgedBy = (primaryMetric: string) =>
      analyseRun(run({ dataset: { ...run().dataset, primaryMetric } }), { answered: said, failed });
    const of = (results: RunResults, metric: string) =>
      results.comparisons.find((one) => one.a === 'dki' && one.metric === metric);
    const byContains = judgedBy('contains');
    expect(of(byContains, 'contains')).toMatchObject({ delta: -1, verdict: 'lost', losses: 36, p: 2 / 2 ** 12 });
    // Where one arm is right on all 36 items, and the other on none, exact and mid-p differ by the probability of that.
    const { exact, midP } = of(byContains, 'contains')!.mcnemar!;
    expect([exact * 2 ** 36, midP * 2 ** 36]).toEqual([expect.closeTo(2, 9), expect.closeTo(1, 9)]);
    const twin = byContains.comparisons.find(({ a, metric }) => a === 'rag-twin' && metric === 'contains');
    expect([twin!.p, twin!.mcnemar]).toEqual([null, undefined]);
    expect(of(byContains, 'exactMatch')).toBeUndefined();
    // Within its margin of 0.05 nats, and without a share's exact interval.
    expect(of(byContains, 'goldLogProb')).toMatchObject({ verdict: 'kept', pAdjusted: 2 / 2 ** 12 });
    expect(of(byContains, 'goldLogProb')!.low).toBeCloseTo(-0.04, 12);
    expect(of(byContains, 'goldLogProb')).not.toHaveProperty('mcnemar');
    const byGold = judgedBy('goldLogProb');
    expect(byGold.comparisons[0]).toMatchObject({ metric: 'goldLogProb', verdict: 'kept' });
    expect(byGold.comparisons.filter(({ metric }) => metric === 'goldLogProb')).toHaveLength(2);
    expect(runResults.parse(written(byContains))).toEqual(byContains);
  });

  it('count answers that are the same and flips both ways, and compare categories with the text', () => {
    const { answered, failed } = turns(6);
    const flipped = answered.map((turn) => {
      if (turn.arm !== 'dki' || !['u0-q0', 'u1-q2'].includes(turn.itemId)) return turn;
      const taskSuccess = turn.itemId === 'u0-q0' ? 0 : 1;
      return { ...turn, answer: { ...turn.answer, text: 'else' }, scores: { ...turn.scores, taskSuccess } };
    });
    const [rag, dki] = analyseRun(run(), { answered: flipped, failed }).arms;
    expect(rag?.fidelity).toBeUndefined();
    expect(dki?.fidelity).toMatchObject({ against: 'rag', n: 18, lost: 1, won: 1, sameAnswer: { mean: 16 / 18 } });
    const [category] = dki!.breakdown.filter(({ field }) => field === 'category');
    expect(category?.difference).toMatchObject({ against: 'rag', delta: 0, n: 18, users: 6, wins: 1, losses: 1 });
    expect(rag!.breakdown.every(({ difference }) => difference === undefined)).toBe(true);
  });
});
