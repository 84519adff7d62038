import { BenchError } from '../../config/bench-error.ts';
import type { BenchDatabase } from '../../db/database.ts';
import type { ItemPair } from '../../db/item-pair-repository.ts';
import type { RunRow } from '../../db/schema.ts';
import { differentSubjects, type RunDifference, type Subjects } from '../../eval/compare/comparability.ts';
import { unknownQuality } from '../../eval/unknown-quality.ts';
import { armsOf, runNamed } from '../find-run.ts';
import type { ArmRef } from '../links.ts';
import { listedPairs, type PairCounts, pairedArms, type SuccessDifference } from './paired-arms.ts';

const pageSize = 50;

/** What is compared; an arm that is not named is chosen among those that both runs have. */
export interface ComparisonQuery {
  readonly a: { readonly run: string; readonly arm?: string };
  readonly b: { readonly run: string; readonly arm?: string };
  /** From 1. */
  readonly page: number;
  /** Compare runs of different data or models all the same. */
  readonly force?: true;
}

/** Two arms item by item: `a` is judged against `b`. */
export interface ComparisonPage {
  readonly a: ArmRef & { readonly arms: readonly string[] };
  readonly b: ArmRef & { readonly arms: readonly string[] };
  /** Why answers are not judged; null where they are. */
  readonly unknownQuality: string | null;
  /** Data and models that differ and are compared all the same. */
  readonly forced: readonly RunDifference[];
  readonly counts: PairCounts;
  /** Of mean task success; null where nothing can be said of it. */
  readonly difference: SuccessDifference | null;
  readonly pairs: readonly ItemPair[];
  readonly page: number;
  readonly pages: number;
}

/** The arms that a reader most likely means: joined K/V against RAG in one run, one arm in two. */
function chosenArms(
  { a, b }: ComparisonQuery,
  [armsA, armsB]: readonly [readonly string[], readonly string[]],
): readonly [string, string] {
  const first = (wanted: readonly string[], arms: readonly string[]) =>
    wanted.find((arm) => arms.includes(arm)) ?? arms[0] ?? '';
  if (a.run === b.run) return [a.arm ?? first(['dki-blocks', 'dki'], armsA), b.arm ?? first(['rag'], armsB)];
  const common = armsA.filter((arm) => armsB.includes(arm));
  const armA = a.arm ?? first([b.arm ?? '', 'dki', 'rag', ...common], armsA);
  return [armA, b.arm ?? first([armA, 'rag'], armsB)];
}

function requireComparable(a: RunRow, b: RunRow, forced: readonly RunDifference[], { force }: ComparisonQuery): void {
  const [difference] = forced;
  if (difference === undefined || force === true) return;
  throw new BenchError(
    'bad-option',
    `runs "${a.name}" and "${b.name}" differ in ${difference.what}: ${difference.a} and ${difference.b}`,
    'compare runs of the same data and models, or add &force=1 to the address',
  );
}

/**
 * Reads a page of the comparison.
 * @throws BenchError `not-found` for a run or an arm that is not there; `bad-option` for an arm against itself, for runs of
 * different data or models without `force`, and where no item is common
 */
export function readComparison(database: BenchDatabase, query: ComparisonQuery): ComparisonPage {
  const [a, b] = [runNamed(database, query.a.run), runNamed(database, query.b.run)];
  const forced = differentSubjects(a as Subjects, b as Subjects);
  requireComparable(a, b, forced, query);
  const arms = [armsOf(database, a, query.a.arm), armsOf(database, b, query.b.arm)] as const;
  const [armA, armB] = chosenArms(query, arms);
  if (a.id === b.id && armA === armB) {
    throw new BenchError('bad-option', `arm "${armA}" of run "${a.name}" is named twice`, 'name two arms, or two runs');
  }
  const quality = unknownQuality((a as Subjects).model) ?? unknownQuality((b as Subjects).model);
  const [sideA, sideB] = [
    { runId: a.id, arm: armA },
    { runId: b.id, arm: armB },
  ];
  const paired = pairedArms(database, sideA, sideB, { judged: quality === null, seed: a.seed });
  const { counts, difference } = paired;
  if (counts.items === 0) {
    const message = `${armA} of "${a.name}" and ${armB} of "${b.name}" answered no item in common`;
    throw new BenchError('bad-option', message, 'draw both runs with the same --limit and --seed');
  }
  const pages = Math.ceil(counts.items / pageSize);
  const page = Math.min(query.page, pages);
  return {
    a: { run: a.name, arm: armA, arms: arms[0] },
    b: { run: b.name, arm: armB, arms: arms[1] },
    unknownQuality: quality,
    forced,
    counts,
    difference,
    pairs: listedPairs(database, paired, page, pageSize),
    page,
    pages,
  };
}
