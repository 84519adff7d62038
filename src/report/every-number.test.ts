import { describe, expect, it } from 'vitest';
import { runs } from '../../test/fixtures/figure-runs.ts';
import { runResults } from '../../test/fixtures/run-results.ts';
import { formatCell } from '../render/table.ts';
import type { ArmResults, RunResults } from '../store/records/run-results.ts';
import { allTables, reportFigures } from './report-contents.ts';
import { headline, verdictSentences } from './verdict-sentences.ts';

/** Where a number stands in `results.json`, such as `arms.1.costHit.ttftMs.mean`. */
type Path = readonly string[];

/** The places of all numbers of the results that a report may show. */
function numberPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'number') return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => numberPaths(part, [...path, key]));
}

/** A copy of results of which no two parts are one object. */
const unshared = (results: RunResults): RunResults => JSON.parse(JSON.stringify(results)) as RunResults;

/** The results with another number at a place: in its range, and far enough for every number of digits. */
function changed(results: RunResults, path: Path): RunResults {
  const copy = unshared(results);
  let own = copy as unknown as Record<string, never>;
  for (const key of path.slice(0, -1)) own = own[key]!;
  const last = path.at(-1)!;
  const value: number = own[last]!;
  (own as Record<string, number>)[last] = Math.abs(value) < 1 && value !== 0 ? value * 0.75 : value + 8;
  return copy;
}

/** A number that a reader sees: the words beside it, and its place in the cell: 0 the value, 1 and 2 the interval. */
interface Shown {
  readonly row: string;
  readonly column: string;
  readonly place: number;
  readonly text: string;
}

type Place = readonly [key: string, shown: Shown];

function shownNumbers(row: string, column: string, text: string): Shown[] {
  return [...text.matchAll(/[−-]?[\d.,]+/g)].map(([number], place) => ({ row, column, place, text: number }));
}

function tableNumbers(results: RunResults): Map<string, Shown> {
  const all = allTables(results).flatMap(({ id, rows }) =>
    rows.flatMap(({ label, cells }, at) =>
      Object.entries(cells).flatMap(([column, cell]) =>
        shownNumbers(label, column, formatCell(cell)).map((one): Place => [`${id} ${at} ${column} ${one.place}`, one]),
      ),
    ),
  );
  return new Map(all);
}

function figureNumbers(results: RunResults): Map<string, Shown> {
  const all = reportFigures(results).flatMap(({ id, data }) =>
    data.flatMap((row, at) =>
      Object.entries(row).flatMap(([column, value]): Place[] => {
        if (typeof value !== 'number') return [];
        return [[`${id} ${at} ${column}`, { row: String(row['arm'] ?? ''), column, place: 0, text: String(value) }]];
      }),
    ),
  );
  return new Map(all);
}

/** Words of which a column and what it shows have the same one, if both have one. */
const GROUPS: readonly (readonly string[])[] = [
  ['hit', 'miss', 'bypass', 'all'],
  ['wins', 'losses', 'ties'],
  ['retrieve', 'assemble', 'kvload', 'kvcompute', 'prefill', 'decode'],
  ['prompt', 'kvresident', 'evaluated', 'generated', 'positions'],
  ['p50', 'p95'],
  ['low', 'high', 'mean'],
  ['a', 'b'],
  ['early', 'late'],
];

function wordOf(text: string, group: readonly string[]): string | undefined {
  const separated = text.replace(/([A-Z])/g, ' $1').toLowerCase();
  const words = separated.split(/[^a-z0-9]+/);
  const joined = words.map((word, at) => `${word}${words[at + 1] ?? ''}`);
  return group.find((word) => [...words, ...joined].some((one) => one === word || one === `${word}s`));
}

const INTERVAL = ['mean', 'low', 'high'];

/** Why a number of the results must not be where it is shown; undefined where it may be. */
function misplaced(results: RunResults, path: Path, { row, column, place }: Shown): string | undefined {
  const names = path.join(' ');
  const other = GROUPS.map((group) => [wordOf(column, group), wordOf(names, group)]).find(
    ([own, from]) => own !== undefined && from !== undefined && own !== from,
  );
  if (other !== undefined) return `${other[0]!} shows ${other[1]!}`;
  const last = path.at(-1)!;
  const isBound = (last === 'low' || last === 'high') && !/^(turn|interval|low|high|from|to)|Low$|High$/.test(column);
  if (isBound && INTERVAL[place] !== last && place < 3) return `${last} stands at place ${place}`;
  if (['mean', 'delta'].includes(last) && place !== 0) return `${last} stands at place ${place}`;
  const [part, at] = [path[0], Number(path[1])];
  const compared = part === 'comparisons' ? results.comparisons[at]!.a : undefined;
  const subject = part === 'arms' ? results.arms[at]!.arm : compared;
  const own = row.split(' : ')[0]!;
  // Rows of α are named by its values, and points of its figure by the arm without them.
  const isOwn =
    own === '' || own === subject || subject?.endsWith(`=${own}`) === true || subject?.startsWith(`${own}@`);
  return subject === undefined || isOwn === true ? undefined : `${row} shows ${subject}`;
}

/** Comparisons with wins and losses, and costs of hits, of misses and of all turns that are no one object. */
function withDistinctNumbers(results: RunResults): RunResults {
  const counts = (at: number) => ({ wins: 11 + at, losses: 31 + at, ties: 278 - 2 * at });
  const comparisons = results.comparisons.map((one, at) => ({ ...one, ...counts(at) }));
  return unshared({ ...results, comparisons });
}

// A table of methods is read by its own test.
describe.each(runs.filter(({ methods }) => methods === undefined).map((one) => [one.run.suite, one] as const))(
  'the report of suite %s',
  (_, run) => {
    const results = withDistinctNumbers(run);
    // What all suites show of an arm is tried on that of three, and some conditions stand for all.
    const isTried = ([part, at]: Path): boolean =>
      part === 'arms'
        ? ['main', 'latency', 'alpha'].includes(run.run.suite)
        : part !== 'conditions' || Number(at) % 7 === 1;
    const paths = numberPaths({ ...results, run: {} }).filter(isTried);

    it.each([
      ['table', tableNumbers],
      ['figure', figureNumbers],
    ])('shows every number of a %s under the right arm and heading', (__, numbersOf) => {
      const before = numbersOf(results);
      const wrong = paths.flatMap((path) => {
        const after = numbersOf(changed(results, path));
        return [...before].flatMap(([key, shown]) => {
          if (after.get(key)?.text === shown.text) return [];
          const why = misplaced(results, path, shown);
          return why === undefined ? [] : [`${key} ← ${path.join('.')}: ${why}`];
        });
      });
      expect(wrong).toEqual([]);
    });
  },
);

describe('the sentences of a report', () => {
  const [rag, dki, wrong] = runResults.arms as [ArmResults, ArmResults, ArmResults];
  const blocks: ArmResults = {
    ...wrong,
    arm: 'dki-blocks',
    traits: {
      ...{ ...wrong.traits, name: 'dki-blocks', base: 'dki-blocks' },
      ...{ retrieves: 'retrieved', comparison: 'planned', control: null },
    },
  };
  const of = (a: string, metric: string, [delta, low, high]: readonly number[], verdict: string) => {
    return { ...runResults.comparisons[0]!, a, metric, delta, low, high, verdict };
  };
  const results: RunResults = {
    ...runResults,
    arms: [rag, { ...dki, tokens: { ...dki.tokens!, evaluated: 31 } }, blocks],
    comparisons: [
      { ...of('dki', 'exactMatch', [-0.0128, -0.019, 0.004], 'kept'), wins: 13, losses: 17, n: 311 },
      {
        ...of('dki-blocks', 'exactMatch', [-0.013, -0.05, 0.02], 'undecided'),
        ...{ wins: 19, losses: 23, n: 307, neededItems: 2169 },
      },
      { ...of('dki', 'ttftLogRatio', [0.41, 0.4, 0.42].map(Math.log), 'faster'), means: { a: 9.84, b: 24 } },
      { ...of('dki', 'evaluatedTokens', [-150, -152, -148], 'fewer'), means: { a: 31.25, b: 181.3 } },
    ] as RunResults['comparisons'],
    breakEven: [
      { arm: 'dki', against: 'rag', missMs: 40, hitMs: 10, textMissMs: 24, textHitMs: 24, turn: 3, low: 2, high: 7 },
    ],
  };

  it('say each number where it belongs, and each verdict as it is', () => {
    expect(verdictSentences(results).slice(0, 5)).toEqual([
      'Against rag, on cache hits: dki evaluated 31.3 tokens per turn, rag 181.3 (fewer); its first token took 0.41 [0.40, 0.42] of the time, 9.8 ms against 24.0 ms (faster).',
      'Break-even against rag: turn 3 [2, 7].',
      'A cache miss of dki evaluates 190.5 tokens (120 of 320 turns with memories).',
      'Against rag: dki keeps its exact match within the margin (−1.3 [−1.9, 0.4] points); dki-blocks differs by −1.3 [−5.0, 2.0] points of exact match, undecided (needs 2169 items).',
      'Unproven: isolation (no canary users in this data set).',
    ]);
    const all = {
      ...results,
      comparisons: results.comparisons.map((one) => ({ ...one, metric: `${one.metric}All` })),
    };
    expect(verdictSentences(all)[0]).toMatch(
      /^Over all turns \(hit rate 63 %\): dki evaluated 31\.3 tokens per turn, rag 181\.3/,
    );
  });

  it('open with what was kept and saved', () => {
    expect(headline(results)).toEqual([
      'Against rag, dki keeps its exact match within the margin (−1.3 [−1.9, 0.4] points); time to first token ' +
        'on 200 cache hits: 0.41 [0.40, 0.42] × rag (faster).',
      'Against rag, dki-blocks differs by −1.3 [−5.0, 2.0] points of exact match, undecided (needs 2169 items).',
    ]);
  });
});

/** All parts of a specification that give names their colours. */
function colourScales(part: unknown): { readonly domain: readonly string[]; readonly range: readonly string[] }[] {
  if (typeof part !== 'object' || part === null) return [];
  const { field, scale } = part as { readonly field?: string; readonly scale?: unknown };
  const { domain, range } = (scale ?? {}) as { domain?: readonly string[]; range?: readonly string[] };
  // Other channels of the same field give shapes and dashes.
  const isColour = field === 'arm' && range?.every((colour) => typeof colour === 'string' && colour.startsWith('#'));
  const own = isColour === true && domain !== undefined ? [{ domain, range: range! }] : [];
  return [...own, ...Object.values(part).flatMap(colourScales)];
}

it('every figure gives an arm its own colour', () => {
  const scales = runs.flatMap((results) =>
    reportFigures(results).flatMap(({ spec }) => colourScales(spec).map((scale) => ({ scale, results }))),
  );
  expect(scales.length).toBeGreaterThan(5);
  for (const { scale, results } of scales) {
    const known = scale.domain.flatMap((name, at) => {
      const traits = results.arms.find(({ arm }) => arm === name)?.traits;
      return traits === undefined ? [] : [[scale.range[at], traits.mark.colour]];
    });
    expect(known.map(([colour]) => colour)).toEqual(known.map(([, own]) => own));
  }
});
