import jstat from 'jstat';
import { describe, expect, it } from 'vitest';
import { analyseRun } from '../../src/eval/analysis/analyse-run.ts';
import type { EndedRun } from '../../src/eval/analysis/summary/describe-run.ts';
import { unfinishedResults } from '../../src/eval/analysis/unfinished-run-results.ts';
import { categoryTable, contrastTable } from '../../src/report/topics/categories.ts';
import { reportFigures, shownTables } from '../../src/report/report-contents.ts';
import { renderReport } from '../../src/report/html/report-page.ts';
import { renderSummary } from '../../src/report/terminal-summary.ts';
import { headline, verdictSentences } from '../../src/report/verdict-sentences.ts';
import { contrastNotes } from '../../src/eval/run/plan/notes-before-turns.ts';
import type { MeasuredContrast, PlannedContrast } from '../../src/store/records/planned-contrast.ts';
import { runResults, type RunResults } from '../../src/store/records/run-results.ts';
import type { AnsweredTurn } from '../../src/store/records/turn-record.ts';
import { handmadeTraits } from '../fixtures/arm-traits.ts';
import { runProbes } from '../fixtures/check-input.ts';
import { shown } from '../fixtures/shown-cells.ts';
import { type HandmadeTurn, newRun, turnOf } from '../fixtures/stored-runs.ts';
import { effectOf, flipP, holmOf, type Row, tangoBounds } from './second-statistics.ts';

const USERS = 12;
const planned: PlannedContrast = {
  arm: 'dki-blocks',
  reference: 'rag',
  categories: ['updated', 'two memories'],
  metric: 'contains',
  discordance: 0.25,
};
const arms = [
  handmadeTraits('rag'),
  handmadeTraits('dki-blocks', { injects: 'memories', comparison: 'planned' }),
  handmadeTraits('dki-link:4', { injects: 'memories', comparison: 'planned' }),
];

interface Question {
  readonly user: number;
  readonly number: number;
  readonly category: 'updated' | 'two memories' | 'plain';
}

/** Each category has another number of questions, and each user another number of each. */
const questions: readonly Question[] = Array.from({ length: USERS }, (_, user) =>
  Object.entries({ updated: 2 + (user % 3), 'two memories': 3 - (user % 2), plain: 1 + (user % 2) }).flatMap(
    ([category, count]) =>
      Array.from({ length: count }, (_, number) => ({ user, number, category: category as Question['category'] })),
  ),
).flat();

/** Text fails where values were updated, blocks where memories are combined: `strength` says of how many users. */
function isRight(arm: string, { user, number, category }: Question, strength: number): boolean {
  const [affected, odd] = [user < strength, (user + number) % 2 === 1];
  if (category === 'plain') return arm === 'rag' || user !== 4;
  if (category === 'updated') return arm === 'rag' ? !affected && user !== 11 : odd || affected || user === 7;
  return arm === 'rag' ? user !== 2 || odd : !(affected && odd) && user !== 9;
}

const goldLogProb = (arm: string, { user, number, category }: Question): number =>
  -1 - 0.1 * Math.sin(3 * user + number) - (arm === 'rag' ? 0 : category === 'updated' ? -0.2 : 0.1 * (1 + (user % 4)));

function turns(strength: number, of: readonly string[] = arms.map(({ name }) => name)): AnsweredTurn[] {
  const made = questions.flatMap((question) =>
    of.map((arm): HandmadeTurn => ({
      itemId: `u${question.user}-${question.category}-${question.number}`,
      userId: `user-${String(question.user).padStart(2, '0')}`,
      arm,
      right: isRight(arm, question, strength),
      category: question.category,
      // Blocks with link tokens differ from text by less than the noise, but on updated values.
      goldLogProb:
        arm === 'dki-link:4'
          ? goldLogProb('rag', question) + (question.category === 'updated' ? 0.5 : 1e-6)
          : goldLogProb(arm, question),
    })),
  );
  return made.map((turn) => turnOf(turn) as AnsweredTurn);
}

const PARITY = { prompts: 1, cuts: 3, bitwiseEqual: false, largestDifference: 1e-5 };

function endedRun(modelName: string, plannedContrast: PlannedContrast = planned): EndedRun {
  const all = turns(0).map(({ itemId, userId, arm, item }) => ({
    itemId,
    userId,
    arm,
    right: true,
    category: item.category,
  }));
  const { plan, ...rest } = newRun({
    name: modelName,
    modelName,
    turns: all,
    primaryMetric: 'contains',
    plannedContrast,
  });
  return {
    ...{ schemaVersion: 1, id: modelName, status: 'finished', startedAt: 0, finishedAt: 1, ...rest },
    dataset: { ...rest.dataset, users: USERS },
    plan: { ...plan, arms, metricsVersion: 2 },
    probes: { ...runProbes, parity: PARITY },
  };
}

/** The results as a file holds them. */
const stored = (results: RunResults): RunResults => runResults.parse(JSON.parse(JSON.stringify(results)));

const resultsOf = (model: string, strength: number): RunResults =>
  stored(analyseRun(endedRun(model), { answered: turns(strength), failed: [] }));

const models = { small: 8, middle: 6, large: 3 } as const;
const runs = Object.entries(models).map(([model, strength]) => resultsOf(model, strength));

const measured = ({ contrast }: RunResults): MeasuredContrast => {
  if (contrast?.found.state !== 'measured') throw new Error('the contrast is absent');
  return contrast.found;
};

type Value = (arm: string, question: Question) => number;

/** Differences of blocks to text in one category, from the plan alone. */
function rows(category: Question['category'], value: Value): Row[] {
  return questions
    .filter((question) => question.category === category)
    .map((question) => ({ user: question.user, value: value('dki-blocks', question) - value('rag', question) }));
}

const mean = (of: readonly Row[]): number => of.reduce((sum, { value }) => sum + value, 0) / of.length;
const users = Array.from({ length: USERS }, (_, user) => user);

/** The contrast once more: each category by itself, then the contrast without each user in turn. */
function again(strength: number) {
  const right: Value = (arm, question) => Number(isRight(arm, question, strength));
  const groups = planned.categories.map((category) => {
    const own = rows(category as Question['category'], right);
    const side = (arm: string): Row[] =>
      questions
        .filter((question) => question.category === category)
        .map((question) => ({ user: question.user, value: right(arm, question) }));
    const values = effectOf([side('dki-blocks'), side('rag')]);
    const effect = Math.max(values, effectOf([own], values));
    const spread = own.reduce((sum, { value }) => sum + (value - mean(own)) ** 2, 0) / (own.length - 1) / own.length;
    return { own, effect, bounds: tangoBounds(own, effect), variance: spread * effect };
  });
  const [first, second] = groups as [(typeof groups)[0], (typeof groups)[0]];
  const delta = mean(first.own) - mean(second.own);
  // Each user's pull on the contrast, squared.
  const pull = (user: number): number => {
    const of = ({ own }: typeof first): number =>
      own.reduce((sum, row) => sum + (row.user === user ? row.value - mean(own) : 0), 0) / own.length;
    return of(first) - of(second);
  };
  const clustered = (users.reduce((sum, user) => sum + pull(user) ** 2, 0) * USERS) / (USERS - 1);
  const separate = first.variance + second.variance;
  const wider = Math.sqrt(Math.max(1, clustered / separate));
  const reach = (one: number, other: number): number => wider * Math.sqrt(one ** 2 + other ** 2);
  const common = mean([...first.own, ...second.own]);
  const flipped = [first, second].flatMap(({ own }, place) =>
    own.map(({ user, value }) => ({ user, value: ((place === 0 ? 1 : -1) * (value - common)) / own.length })),
  );
  const z = jstat.normal.inv(0.975, 0, 1) + jstat.normal.inv(0.8, 0, 1);
  return {
    delta,
    low: delta - reach(mean(first.own) - first.bounds[0], second.bounds[1] - mean(second.own)),
    high: delta + reach(first.bounds[1] - mean(first.own), mean(second.own) - second.bounds[0]),
    p: flipP(flipped),
    detectable: z * wider * Math.sqrt(separate),
    groups,
  };
}

describe('the planned contrast of a run', () => {
  it.each(Object.entries(models))('of the model %s is that of a second implementation', (model, strength) => {
    const found = measured(runs.find(({ run }) => run.model.name === model)!);
    const own = again(strength);
    expect(found.delta).toBeCloseTo(own.delta, 12);
    expect(found.low).toBeCloseTo(own.low, 4);
    expect(found.high).toBeCloseTo(own.high, 4);
    expect(found.p).toBeCloseTo(own.p, 12);
    expect(found.detectable).toBeCloseTo(own.detectable, 4);
    expect(found.n).toBe(own.groups.reduce((sum, group) => sum + group.own.length, 0));
    for (const [place, part] of found.parts.entries()) {
      const group = own.groups[place]!;
      expect(part).toMatchObject({ category: planned.categories[place], n: group.own.length, users: USERS });
      expect(part.delta).toBeCloseTo(mean(group.own), 12);
      expect(part.low).toBeCloseTo(group.bounds[0], 4);
      expect(part.wins - part.losses).toBe(Math.round(mean(group.own) * group.own.length));
    }
    const golds = planned.categories.map((category) => mean(rows(category as Question['category'], goldLogProb)));
    expect(found.goldLogProb!.delta).toBeCloseTo(golds[0]! - golds[1]!, 9);
  });

  it('has numbers of its own in every place', () => {
    const numbers = runs.flatMap((results) => {
      const { delta, low, high, parts } = measured(results);
      return [delta, low, high, ...parts.flatMap((part) => [part.delta, part.low, part.high])];
    });
    expect(new Set(numbers).size).toBeGreaterThan(numbers.length - 4);
  });

  it('says what was planned before, from drawn items and the assumed discordance', () => {
    const items = planned.categories.map((category) => questions.filter((one) => one.category === category).length);
    const { before } = runs[0]!.contrast!;
    expect(before.items).toEqual(items);
    const z = jstat.normal.inv(0.975, 0, 1) + jstat.normal.inv(0.8, 0, 1);
    expect(before.detectable).toBeCloseTo(z * Math.sqrt(0.25 / items[0]! + 0.25 / items[1]!), 4);
    const points = (before.detectable! * 100).toFixed(1);
    expect(contrastNotes(endedRun('small'))).toEqual([
      `planned contrast: (dki-blocks − rag) on updated minus the same on two memories, by contains; its items (${items[0]} of ` +
        `updated, ${items[1]} of two memories) can show ${points} points or more (80 % power, two-sided 5 %, if the arms ` +
        'differ on 25 % of independent items). All else by category is exploratory',
    ]);
  });

  it('is absent, with the reason, where an arm, a category or quality is missing', () => {
    const why = (run: EndedRun, answered: readonly AnsweredTurn[]) => {
      const { contrast } = stored(analyseRun(run, { answered, failed: [] }));
      return contrast!.found.state === 'absent' ? contrast!.found.why : undefined;
    };
    const run = endedRun('small');
    expect(why(run, turns(8, ['rag']))).toBe('no turn of dki-blocks');
    const easy = turns(8).filter(({ item }) => item.category !== 'two memories');
    expect(why(run, easy)).toBe('no item of two memories was answered by both arms');
    expect(why({ ...run, model: { ...run.model, name: 'random:tiny' } }, turns(8))).toBe('random weights');
    const small = { ...run.dataset, counts: { ...run.dataset.counts, category: { updated: 3, 'two memories': 4 } } };
    expect(contrastNotes({ ...run, dataset: small })[0]).toMatch(
      /its items \(3 of updated, 4 of two memories\) are too few to show any contrast$/,
    );
    const unmade = { ...run, plan: { ...run.plan, arms: arms.slice(0, 1) } };
    expect(contrastNotes(unmade)[0]).toMatch(/not measured, since this run has no arm dki-blocks$/);
    const results = stored(analyseRun(run, { answered: turns(8, ['rag']), failed: [] }));
    expect(verdictSentences(results)).toContain(
      'Planned contrast, (dki-blocks − rag) on updated minus the same on two memories, by contains: not measured (no turn of dki-blocks).',
    );
    expect(shown(contrastTable([results])!, 'small')).toMatchObject({ verdict: 'absent: no turn of dki-blocks' });
  });

  it('has no verdict while the run goes on, nor with fewer than ten users', () => {
    const some = turns(8).filter(({ userId }) => userId < 'user-09');
    const few = stored(analyseRun(endedRun('small'), { answered: some, failed: [] }));
    expect(measured(few)).toMatchObject({ verdict: 'too few users' });
    const { results } = unfinishedResults({ ...endedRun('small'), status: 'interrupted' }, turns(8), new Set());
    expect(measured(stored(results!))).toMatchObject({
      p: null,
      verdict: 'not judged',
      delta: measured(runs[0]!).delta,
    });
  });
});

describe('a table of several models', () => {
  const table = contrastTable(runs)!;

  it('has the contrast of each, adjusted over all of them', () => {
    const ps = runs.map((results) => measured(results).p!);
    const adjusted = holmOf(ps);
    // The middle model is shown by itself, and not after the adjustment for three.
    expect([ps[1]! < 0.05, adjusted[1]! < 0.05]).toEqual([true, false]);
    const text = (p: number): string => (p < 0.001 ? '<.001' : p.toFixed(3).replace(/^0/, ''));
    for (const [place, results] of runs.entries()) {
      const own = again(Object.values(models)[place]!);
      const points = [own.delta, own.low, own.high].map((one) => (100 * one).toFixed(1).replace('-', '−'));
      expect(shown(table, results.run.model.name)).toMatchObject({
        contrast: `${points[0]} [${points[1]}, ${points[2]}]`,
        p: text(ps[place]!),
        pAdjusted: text(adjusted[place]!),
        verdict: ['higher', 'undecided', 'undecided'][place],
        'first:category': 'updated',
        'second:n': String(own.groups[1]!.own.length),
      });
    }
    expect(measured(runs[1]!).verdict).toBe('higher');
  });

  it('adjusts each contrast over the runs that have it, and leaves out runs on data that plan none', () => {
    const other = stored(
      analyseRun(endedRun('other', { ...planned, categories: ['updated', 'plain'] }), {
        answered: turns(8),
        failed: [],
      }),
    );
    const none = stored(
      analyseRun(
        { ...endedRun('none'), dataset: newRun({ name: 'x', turns: [] }).dataset },
        { answered: turns(8), failed: [] },
      ),
    );
    const both = contrastTable([other, runs[0]!, none])!;
    expect(both.rows.map(({ label }) => label)).toEqual(['other', 'small']);
    const { p, pAdjusted } = shown(both, 'small') as { p: string; pAdjusted: string };
    expect(pAdjusted).toBe(p);
    expect(contrastTable([none])).toBeUndefined();
  });
});

describe('a run whose data plan a contrast', () => {
  const [results] = runs as [RunResults];

  it('leads with it and with each category, and has no mean over all categories as a finding', () => {
    expect(
      shownTables(results)
        .map(({ id }) => id)
        .slice(0, 3),
    ).toEqual(['contrast', 'table-1c', 'table-1']);
    const [first] = headline(results);
    const { delta } = measured(results);
    expect(first).toContain(`by contains: ${(100 * delta).toFixed(1)} [`);
    const sentences = verdictSentences(results);
    expect(sentences.some((sentence) => sentence.startsWith(first!.slice(0, -2)))).toBe(true);
    const overall = results.comparisons.find(({ a, metric }) => a === 'dki-blocks' && metric === 'contains')!;
    const whole = (100 * overall.delta).toFixed(1).replace('-', '−');
    for (const sentence of [...sentences, ...headline(results), ...reportFigures(results).map(({ title }) => title)]) {
      expect(sentence).not.toContain(` ${whole} [`);
      expect(sentence).not.toContain(`(${whole} `);
    }
    expect(sentences.join('\n')).toMatch(/dki-blocks against rag by category, exploratory, .*: plain −\d/);
    expect(reportFigures(results)[0]!.id).toBe('categories');
    const lines = renderSummary(results, { width: 100, colour: false });
    expect(lines.match(/^- Planned contrast, /gm)).toHaveLength(1);
  });

  it('says it in short in the head of its report, in full below, and in short as the title of a figure', async () => {
    const page = await renderReport([results]);
    const verdict = page.slice(page.indexOf('id="verdict"'), page.indexOf('id="suite-main"'));
    const said = verdict.match(/Planned contrast, \(dki-blocks − rag\).*/g)!;
    // A figure has its title twice: below it, and for those who cannot see it.
    expect(said.map((sentence) => sentence.includes('It could show'))).toEqual([false, true, false, false]);
    expect(verdict).toContain('id="verdict-heading"');
  });

  it('is called exploratory by category, with the log-probability of the gold and what is noise of it', () => {
    const table = categoryTable(results)!;
    expect(table.caption).toContain('Exploratory');
    const plain = rows('plain', goldLogProb);
    expect(shown(table, 'dki-blocks')['plain:goldDifference']).toMatch(
      new RegExp(`^${mean(plain).toFixed(3).replace('-', '−').replace('.', '\\.')} \\[`),
    );
    expect(table.notes.join('\n')).toContain(
      "Below the engine's noise of 2.0e-5 nats per token: dki-link:4 on plain, dki-link:4 on two memories.",
    );
  });
});

it('a run whose data plan none keeps its order, and its categories are exploratory too', () => {
  const dataset = { ...endedRun('small').dataset };
  delete (dataset as { plannedContrast?: unknown }).plannedContrast;
  const results = stored(analyseRun({ ...endedRun('small'), dataset }, { answered: turns(8), failed: [] }));
  expect(results).not.toHaveProperty('contrast');
  expect(shownTables(results)[0]!.id).toBe('table-1');
  expect(categoryTable(results)!.notes.join(' ')).toContain('The data plan no contrast between categories');
  expect(reportFigures(results).map(({ id }) => id)).not.toContain('categories');
});
