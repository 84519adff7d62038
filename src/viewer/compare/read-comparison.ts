import { BenchError } from '../../base/bench-error.ts';
import type { BenchDatabase } from '../../store/database.ts';
import { differentSubjects } from '../../eval/analysis/compare/comparability.ts';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import type { ArmTraits } from '../../store/records/arm-traits.ts';
import { type HiddenTexts, hiddenInReports, pairWithoutTexts } from '../hidden-texts.ts';
import { armsOf, runNamed, usualPair } from '../find-run.ts';
import { listedPairs, pairedArms } from './paired-arms.ts';

const pageSize = 50;

/** The arms to compare; an arm that is not named is chosen among those that both runs have. */
export interface ComparisonQuery {
  readonly a: { readonly run: string; readonly arm: string | undefined };
  readonly b: { readonly run: string; readonly arm: string | undefined };
  /** From 1. */
  readonly page: number;
  /** Compare runs of different data or models, too. */
  readonly force: boolean;
}

/** Chooses the arms that are not named: the usual pair of one run, the same arm of two runs. */
function chosenArms(
  { a, b }: ComparisonQuery,
  traits: readonly ArmTraits[],
  [armsA, armsB]: readonly [readonly string[], readonly string[]],
): readonly [string, string] {
  const first = (wanted: readonly string[], arms: readonly string[]) =>
    wanted.find((arm) => arms.includes(arm)) ?? arms[0] ?? '';
  if (a.run === b.run) {
    const [usualA, usualB] = usualPair(traits, armsA);
    return [a.arm ?? usualA ?? '', b.arm ?? usualB ?? ''];
  }
  const inRole = (role: ArmTraits['comparison']) =>
    traits.flatMap(({ name, comparison }) => (comparison === role ? name : []));
  const common = armsA.filter((arm) => armsB.includes(arm));
  const armA = a.arm ?? first([b.arm ?? '', ...inRole('primary'), ...inRole('baseline'), ...common], armsA);
  return [armA, b.arm ?? first([armA, ...inRole('baseline')], armsB)];
}

/**
 * Reads a page of the comparison.
 * @param hidden by default the rule of reports
 * @throws BenchError `not-found` for an unknown run or arm; `bad-option` for an arm against itself, for runs of different
 * data or models without `force`, and if no item is common
 */
export function readComparison(database: BenchDatabase, query: ComparisonQuery, hidden: HiddenTexts = hiddenInReports) {
  const [a, b] = [runNamed(database, query.a.run), runNamed(database, query.b.run)];
  const forced = differentSubjects(a, b);
  const [difference] = forced;
  if (difference !== undefined && !query.force) {
    throw new BenchError(
      'bad-option',
      `runs "${a.name}" and "${b.name}" differ in ${difference.what}: ${difference.a} and ${difference.b}`,
      'compare runs of the same data and models, or add &force=1 to the address',
    );
  }
  const arms = [armsOf(database, a, query.a.arm), armsOf(database, b, query.b.arm)] as const;
  const [armA, armB] = chosenArms(query, a.plan.arms, arms);
  if (a.id === b.id && armA === armB) {
    throw new BenchError('bad-option', `arm "${armA}" of run "${a.name}" is named twice`, 'name two arms, or two runs');
  }
  const quality = unknownQuality(a.model) ?? unknownQuality(b.model);
  const judged = quality === null;
  const paired = pairedArms(database, { runId: a.id, arm: armA }, { runId: b.id, arm: armB }, { judged });
  const { counts } = paired;
  if (counts.items === 0) {
    const message = `${armA} of "${a.name}" and ${armB} of "${b.name}" answered no item in common`;
    throw new BenchError('bad-option', message, 'draw both runs with the same --limit and --seed');
  }
  const pages = Math.ceil(counts.items / pageSize);
  const page = Math.min(query.page, pages);
  const hiddenTexts = hidden(a) ?? hidden(b);
  const pairs = listedPairs(database, paired, page, pageSize);
  return {
    a: { run: a.name, arm: armA, arms: arms[0] },
    b: { run: b.name, arm: armB, arms: arms[1] },
    unknownQuality: quality,
    forced,
    counts,
    difference: paired.difference,
    pairs: hiddenTexts === null ? pairs : pairs.map(pairWithoutTexts),
    hiddenTexts,
    page,
    pages,
  };
}

/** Two arms compared item by item; `forced` holds the differences of data and models that `force` allowed. */
export type ComparisonPage = ReturnType<typeof readComparison>;
