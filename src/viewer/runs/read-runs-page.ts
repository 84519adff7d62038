import type { BenchDatabase } from '../../store/database.ts';
import { RunRepository, type RunHead } from '../../store/run-repository.ts';
import type { RunResults } from '../../store/records/results.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { headline } from '../../report/headline.ts';
import { lackOfProof } from '../../report/proof.ts';
import { verdictSentences } from '../../report/verdict.ts';

/** A run in the list of runs. */
export interface ListedRun {
  readonly name: string;
  readonly suite: string;
  readonly status: RunRecord['status'];
  readonly startedAt: string;
  readonly model: string;
  readonly dataset: string;
  readonly items: number;
  /** Null before the run has results. */
  readonly checks: { readonly passed: number; readonly failed: readonly string[] } | null;
  /** The result of the run in a line. */
  readonly verdict: string;
}

/** Filter and page of the list of runs. */
export interface RunsQuery {
  /** A part of name, suite, model or data. */
  readonly text?: string;
  /** From 1. */
  readonly page?: number;
}

/** A page of the list of runs. */
export interface RunsPage {
  readonly query: RunsQuery;
  readonly runs: readonly ListedRun[];
  readonly matching: number;
  readonly page: number;
  readonly pages: number;
}

const pageSize = 50;

type Verdict = Pick<ListedRun, 'checks' | 'verdict'>;

/** Verdicts of runs with results, kept because these do not change and are documents of 100 kB and more. */
const verdicts = new Map<string, Verdict>();

function verdictOf(database: BenchDatabase, run: RunHead): Verdict {
  const key = `${database.path}\n${run.id}\n${run.status}\n${run.finishedAt ?? ''}\n${run.resultsBytes ?? ''}`;
  const known = verdicts.get(key);
  if (known !== undefined) return known;
  const results = run.resultsBytes === null ? null : new RunRepository(database).results(run.id);
  if (results === null) return { checks: null, verdict: `${run.status}: no results yet` };
  const verdict = verdictOfResults(results);
  verdicts.set(key, verdict);
  return verdict;
}

function verdictOfResults(results: RunResults): Verdict {
  const named = (wanted: 'passed' | 'failed'): string[] =>
    results.checks.filter(({ status }) => status === wanted).map(({ check }) => check);
  return {
    checks: { passed: named('passed').length, failed: named('failed') },
    // The last sentence, on the scope of the result, is the same for every run.
    verdict:
      lackOfProof(results) ?? headline([results])[0] ?? verdictSentences(results).slice(0, -1)[0] ?? 'see its tables',
  };
}

/** Reads the runs, the latest first. @param size rows of a page */
export function readRunsPage(database: BenchDatabase, query: RunsQuery, size = pageSize): RunsPage {
  const wanted = query.text?.toLowerCase();
  const all = new RunRepository(database).heads().reverse();
  const matching = all.filter((run) =>
    wanted === undefined
      ? true
      : [run.name, run.suite, run.status, run.model, run.dataset].some((text) => text.toLowerCase().includes(wanted)),
  );
  const pages = Math.max(1, Math.ceil(matching.length / size));
  const page = Math.min(query.page ?? 1, pages);
  return {
    query,
    matching: matching.length,
    page,
    pages,
    runs: matching.slice((page - 1) * size, page * size).map((run) => ({
      name: run.name,
      suite: run.suite,
      status: run.status,
      startedAt: new Date(run.startedAt).toISOString(),
      model: run.model,
      dataset: run.dataset,
      items: run.items,
      ...verdictOf(database, run),
    })),
  };
}
