import { expect, it } from 'vitest';
import { analyseRun } from '../../src/eval/analysis/analyse-run.ts';
import type { EndedRun } from '../../src/eval/analysis/summary/describe-run.ts';
import type { ArmTraits } from '../../src/store/records/arm-traits.ts';
import type { AnsweredTurn } from '../../src/store/records/turn-record.ts';
import { handmadeTraits } from '../fixtures/arm-traits.ts';
import { runProbes } from '../fixtures/check-input.ts';
import { newRun, turnOf } from '../fixtures/stored-runs.ts';
import {
  effectOf,
  flipP,
  holmOf,
  pAbove,
  paybackTurn,
  type Row,
  studentBounds,
  tangoBounds,
  wilsonBounds,
} from './second-statistics.ts';

const USERS = 12;
const ARMS: readonly ArmTraits[] = [
  handmadeTraits('rag'),
  handmadeTraits('rag-cached', { comparison: 'planned' }),
  handmadeTraits('dki', { injects: 'memories' }),
  handmadeTraits('dki-blocks', { injects: 'memories', comparison: 'planned' }),
  handmadeTraits('dki-parallel', { injects: 'memories', comparison: 'planned' }),
  handmadeTraits('rag-twin', { control: 'twin' }),
  handmadeTraits('none', { control: 'negative', retrieves: 'nothing' }),
];

/** A question of the planted world: of the last one of each user, abstaining is right. */
interface Question {
  readonly user: number;
  readonly number: number;
  readonly absent: boolean;
}

const questions: readonly Question[] = Array.from({ length: USERS }, (_, user) => {
  const count = 4 + (user % 3);
  return Array.from({ length: count }, (_, number) => ({ user, number, absent: number === count - 1 }));
}).flat();

/** The first question of a user misses; all but `dki` miss the second, too. */
function cacheOf(arm: string, { number }: Question): 'hit' | 'miss' | 'bypass' {
  if (!arm.startsWith('dki')) return 'bypass';
  return number < (arm === 'dki' ? 1 : 2) ? 'miss' : 'hit';
}

/** Users 3 and 8 are hard for everybody; blocks lose two answers more, and win one; parallel blocks lose every other one. */
function isRight(arm: string, { user, number, absent }: Question): boolean {
  if (arm === 'none') return (user + number) % 9 === 0;
  const text = !((user === 3 || user === 8) && number < 2);
  if (arm === 'dki-parallel') return text && (absent ? user % 4 !== 0 : number % 2 === 1);
  if (arm !== 'dki-blocks') return text;
  return (text && !(user === 5 && number === 1) && !(user === 9 && number === 0)) || (user === 8 && number === 1);
}

/** Milliseconds: slow users take all arms longer, and a miss ten times the hit. */
function millisecondsOf(arm: string, question: Question): number {
  const base = { rag: 30, 'rag-cached': 11, dki: 10, 'dki-blocks': 12, 'dki-parallel': 13, 'rag-twin': 30.5, none: 8 }[
    arm
  ]!;
  // What text takes differs much between users, so that savings do.
  const text = arm === 'rag' || arm === 'rag-twin' ? 1 + 0.6 * Math.sin(2 * question.user) : 1;
  const wobble = text * (1 + 0.03 * Math.sin(7 * question.user + 3 * question.number + arm.length));
  const misses = question.number === 0 && (arm === 'rag-cached' || arm.startsWith('dki'));
  return base * (1 + question.user / 20) * wobble * (misses ? 10 : 1);
}

/** Evaluated tokens: as many as the prompt has, but for what is kept. */
function tokensOf(arm: string, question: Question): number {
  const prompt = 120 + 3 * question.user + question.number;
  if (arm === 'none') return 20;
  if (arm === 'rag-cached') return question.number === 0 ? prompt : 40 + question.number;
  return cacheOf(arm, question) === 'hit' ? 25 + (question.user % 3) : prompt;
}

/** ln p of the gold, which is one token. */
function goldOf(arm: string, { user, number }: Question): number {
  const loss = { 'dki-blocks': 0.02, 'dki-parallel': 0.4, none: 5 }[arm] ?? 0;
  return -0.1 - user / 50 - loss * (1 + Math.cos(5 * user + number) / 4) - 0.01 * Math.sin(arm.length * number);
}

function turn(arm: string, question: Question): AnsweredTurn {
  const { user, number, absent } = question;
  const made = {
    ...{ itemId: `u${user}-q${number}`, userId: `user-${String(user).padStart(2, '0')}`, arm },
    ...{ gold: absent ? null : 'Turin', right: isRight(arm, question), firstTokenMs: millisecondsOf(arm, question) },
  };
  const base = turnOf(made) as AnsweredTurn;
  return {
    ...base,
    account: { ...base.account, cache: cacheOf(arm, question) },
    tokens: { ...base.tokens, evaluated: tokensOf(arm, question) },
    observed: {
      ...base.observed,
      // Of other bits, so that nothing is identical.
      parity: null,
      goldLogProbability: absent ? null : goldOf(arm, question),
      goldTokens: absent ? [] : [{ token: 'Turin', logProbability: goldOf(arm, question) }],
    },
  };
}

const { plan, ...rest } = newRun({ name: 'planted', turns: [] });
const run: EndedRun = {
  ...{ schemaVersion: 1, id: 'run-1', status: 'finished', startedAt: 0, finishedAt: 1, ...rest },
  plan: { ...plan, arms: ARMS },
  probes: { ...runProbes, parity: { prompts: 1, cuts: 3, bitwiseEqual: false, largestDifference: 1e-6 } },
};

// Rows come as a run with several workers writes them: by no order of users.
const turns = questions
  .flatMap((question) => ARMS.map(({ name }) => turn(name, question)))
  .sort((a, b) => (a.itemId + a.arm < b.itemId + b.arm ? 1 : -1));
const results = analyseRun(run, { answered: turns, failed: [] });
/** With a margin of 30 points in place of 2. */
const lenient = analyseRun(
  { ...run, plan: { ...run.plan, settings: { ...run.plan.settings, margin: 30 } } },
  { answered: turns, failed: [] },
);

const rows = (
  arm: string,
  of: (arm: string, question: Question) => number,
  some: (question: Question) => boolean,
): Row[] => questions.filter(some).map((question) => ({ user: question.user, value: of(arm, question) }));
const right = (arm: string, question: Question): number => Number(isRight(arm, question));
const answerable = ({ absent }: Question): boolean => !absent;
const hits = (question: Question): boolean => cacheOf('dki', question) === 'hit';
const less = (a: readonly Row[], b: readonly Row[]): Row[] =>
  a.map(({ user, value }, place) => ({ user, value: value - b[place]!.value }));
const mean = (some: readonly Row[]): number => some.reduce((sum, { value }) => sum + value, 0) / some.length;

const POOLED = ARMS.map(({ name }) => name).filter((name) => name !== 'none');
const found = (arm: string) => results.arms.find((one) => one.arm === arm)!;
const compared = (a: string, b: string, metric: string, of = results) =>
  of.comparisons.find((one) => one.a === a && one.b === b && one.metric === metric)!;

const PLANNED = ['rag-cached', 'dki', 'dki-blocks', 'dki-parallel'];

/** These bounds, to so many digits. */
const near = ([low, high]: readonly [number, number], digits: number) => ({
  low: expect.closeTo(low, digits) as number,
  high: expect.closeTo(high, digits) as number,
});

/** A family of tests of right and wrong answers against `rag`, by the second implementation. */
function familyOf(some: (question: Question) => boolean, margin: number) {
  const base = rows('rag', right, some);
  const differences = new Map(POOLED.slice(1).map((arm) => [arm, less(rows(arm, right, some), base)] as const));
  const values = effectOf([...[...differences.keys()].map((arm) => rows(arm, right, some)), base]);
  const effect = Math.max(values, effectOf([...differences.values()], values));
  const lost = holmOf(PLANNED.map((arm) => flipP(differences.get(arm)!)));
  const kept = holmOf(PLANNED.map((arm) => pAbove(differences.get(arm)!, effect, -margin)));
  return PLANNED.map((arm, place) => {
    const own = differences.get(arm)!;
    const [pAdjusted, pKept] = [lost[place]!, kept[place]!];
    const isLost = pAdjusted < 0.05 && mean(own) < 0;
    const verdict = pKept < 0.025 ? 'kept' : isLost ? 'lost' : 'undecided';
    return { arm, own, effect, p: flipP(own), pAdjusted, pKept, verdict };
  });
}

it('has the planted shares, with intervals by user', () => {
  const prior = effectOf(POOLED.map((arm) => rows(arm, right, answerable)));
  expect(prior).toBeGreaterThan(1.2);
  for (const { name } of ARMS) {
    const own = rows(name, right, answerable);
    const bounds = near(wilsonBounds(own, prior), 5);
    const share = { mean: expect.closeTo(mean(own), 12), ...bounds, n: own.length, users: USERS };
    expect(found(name).metrics.exactMatch).toMatchObject(share);
  }
  // 48 answerable of 60; four of them are hard.
  expect(found('rag').metrics.exactMatch!.mean).toBeCloseTo(44 / 48, 12);
  expect(found('dki-blocks').metrics.exactMatch!.mean).toBeCloseTo(43 / 48, 12);
  expect(found('rag').metrics.abstention).toMatchObject({ mean: 1, n: 12 });
  expect(found('rag').metrics.abstention!.low).toBeLessThan(0.8);
});

it('divides every arm by the cache of the primary one, not by its own, and exchanges no regime', () => {
  const misses = (question: Question): boolean => !hits(question);
  for (const { name } of ARMS) {
    const arm = found(name);
    const of = (some: (question: Question) => boolean): Row[] => rows(name, millisecondsOf, some);
    for (const [cost, some] of [
      [arm.costHit, hits],
      [arm.costMiss, misses],
      [arm.costAll, () => true],
    ] as const) {
      const ttftMs = { mean: expect.closeTo(mean(of(some)), 9), ...near(studentBounds(of(some)), 3) };
      expect(cost).toMatchObject({ turns: of(some).length, ttftMs });
    }
  }
  expect(found('dki').turns).toEqual({ hit: 48, miss: 12, bypass: 0 });
  expect(found('dki-blocks').turns).toEqual({ hit: 36, miss: 24, bypass: 0 });
  expect(found('dki').hitRate).toBe(0.8);
});

it('tests the planned arms as a family: p by all flips, Holm, and a bound on the loss', () => {
  for (const { arm, own, effect, p, pAdjusted, pKept, verdict } of familyOf(answerable, 0.02)) {
    expect(compared(arm, 'rag', 'exactMatch')).toMatchObject({
      ...near(tangoBounds(own, effect), 4),
      delta: expect.closeTo(mean(own), 12),
      p: expect.closeTo(p, 12),
      pAdjusted: expect.closeTo(pAdjusted, 12),
      pKept: expect.closeTo(pKept, 4),
      verdict,
    });
  }
  expect(PLANNED.map((arm) => compared(arm, 'rag', 'exactMatch').verdict)).toEqual([
    ...['undecided', 'undecided', 'undecided', 'lost'],
  ]);
  expect(compared('dki-blocks', 'rag', 'exactMatch')).toMatchObject({ wins: 1, losses: 2, ties: 45 });
  // More agreement, a narrower interval.
  const width = (arm: string): number =>
    compared(arm, 'rag', 'exactMatch').high - compared(arm, 'rag', 'exactMatch').low;
  expect(width('dki')).toBeLessThan(width('dki-blocks'));
  expect(compared('none', 'rag', 'exactMatch')).toMatchObject({ p: null, verdict: 'not judged' });
});

it('calls kept what is within a wider margin, by a bound that is adjusted over the arms as well', () => {
  for (const { arm, pKept, verdict } of familyOf(answerable, 0.3)) {
    const one = compared(arm, 'rag', 'exactMatch', lenient);
    expect(one).toMatchObject({ pKept: expect.closeTo(pKept, 4), verdict });
  }
  expect(PLANNED.map((arm) => compared(arm, 'rag', 'exactMatch', lenient).verdict)).toEqual([
    ...['kept', 'kept', 'kept', 'lost'],
  ]);
});

it('tests abstention and the probability of the gold as families of their own', () => {
  for (const { arm, own, pAdjusted, verdict } of familyOf(({ absent }) => absent, 0.02)) {
    const tested = { delta: expect.closeTo(mean(own), 12), pAdjusted: expect.closeTo(pAdjusted, 12), verdict };
    expect(compared(arm, 'rag', 'abstention')).toMatchObject({ n: USERS, users: USERS, ...tested });
  }
  const golds = (arm: string): Row[] => less(rows(arm, goldOf, answerable), rows('rag', goldOf, answerable));
  const adjusted = holmOf(PLANNED.map((arm) => flipP(golds(arm))));
  PLANNED.forEach((arm, place) => {
    const tested = { delta: expect.closeTo(mean(golds(arm)), 9), pAdjusted: expect.closeTo(adjusted[place]!, 12) };
    const bounds = near(studentBounds(golds(arm)), 5);
    expect(compared(arm, 'rag', 'goldLogProb')).toMatchObject({ ...tested, ...bounds });
  });
  expect(compared('dki-parallel', 'rag', 'goldLogProb').verdict).toBe('lost');
});

it('tests evaluated tokens on hits against prefix caching, and shows them over all turns', () => {
  const tested = ['dki', 'dki-blocks', 'dki-parallel'];
  const fewer = (arm: string, some: (question: Question) => boolean): Row[] =>
    less(rows(arm, tokensOf, some), rows('rag-cached', tokensOf, some));
  const adjusted = holmOf(tested.map((arm) => flipP(fewer(arm, hits))));
  tested.forEach((arm, place) => {
    expect(compared(arm, 'rag-cached', 'evaluatedTokens')).toMatchObject({
      ...near(studentBounds(fewer(arm, hits)), 4),
      delta: expect.closeTo(mean(fewer(arm, hits)), 9),
      means: { a: expect.closeTo(mean(rows(arm, tokensOf, hits)), 9) },
      pAdjusted: expect.closeTo(adjusted[place]!, 12),
    });
    const all = { p: null, delta: expect.closeTo(mean(fewer(arm, () => true)), 9) };
    expect(compared(arm, 'rag-cached', 'evaluatedTokensAll')).toMatchObject(all);
    expect(found(arm).costHit!.tokens.evaluated).toBeCloseTo(mean(rows(arm, tokensOf, hits)), 9);
  });
  expect(compared('dki', 'rag-cached', 'evaluatedTokens').verdict).toBe('fewer');
});

it.each(['rag', 'rag-cached'])(
  'says when the first turn has paid against %s, from misses and hits of the arm itself',
  (text) => {
    for (const arm of ['dki', 'dki-blocks', 'dki-parallel']) {
      const of = (cache: 'hit' | 'miss'): Row[] => {
        const some = (question: Question): boolean => cacheOf(arm, question) === cache;
        return less(rows(arm, millisecondsOf, some), rows(text, millisecondsOf, some));
      };
      const one = results.breakEven.find((row) => row.arm === arm && 'against' in row && row.against === text)!;
      const turn = (errors: number): number | null => paybackTurn(of('miss'), of('hit'), errors);
      expect([one.turn, one.low, one.high]).toEqual([turn(0), turn(-1), turn(1)]);
    }
    const dki = results.breakEven.find((row) => row.arm === 'dki' && 'against' in row && row.against === text)!;
    // 70 ms more, then 20 ms less a turn; against prefix caching 1 ms less a turn than nearly the same.
    expect(dki.turn).toBe(text === 'rag' ? 5 : 1);
  },
);

it('tests costs against prefix caching, over cache hits, with the geometric means of the same turns', () => {
  const logs = (arm: string): Row[] => rows(arm, (name, question) => Math.log(millisecondsOf(name, question)), hits);
  const tested = ['dki', 'dki-blocks', 'dki-parallel'];
  const adjusted = holmOf(tested.map((arm) => flipP(less(logs(arm), logs('rag-cached')))));
  tested.forEach((arm, place) => {
    const one = compared(arm, 'rag-cached', 'ttftLogRatio');
    expect(one).toMatchObject({
      ...near(studentBounds(less(logs(arm), logs('rag-cached'))), 5),
      means: { a: expect.closeTo(Math.exp(mean(logs(arm))), 9) },
      pAdjusted: expect.closeTo(adjusted[place]!, 12),
      verdict: arm === 'dki' ? 'faster' : 'slower',
    });
    expect(one.means!.a / one.means!.b).toBeCloseTo(Math.exp(one.delta), 9);
  });
  expect(compared('dki', 'rag', 'ttftLogRatio')).toMatchObject({ p: null, verdict: 'not judged', n: 48 });
  expect(compared('dki', 'rag-cached', 'ttftLogRatioAll')).toMatchObject({ p: null, n: 60 });
});
