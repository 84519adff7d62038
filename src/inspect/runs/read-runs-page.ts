import type { BenchDatabase } from '../../db/database.ts';
import { RunRepository, type RunHead } from '../../db/run-repository.ts';
import type { RunRow } from '../../db/schema.ts';
import type { RunResults } from '../../eval/results.ts';
import { headline } from '../../report/headline.ts';
import { lackOfProof } from '../../report/table.ts';
import { verdictSentences } from '../../report/verdict.ts';

/** A run in the list of runs. */
export interface ListedRun {
  readonly name: string;
  readonly suite: string;
  readonly status: RunRow['status'];
  readonly startedAt: string;
  readonly model: string;
  readonly dataset: string;
  readonly items: number | null;
  /** Null before the run has results. */
  readonly gates: { readonly held: number; readonly failed: readonly string[] } | null;
  /** What the run says, in a line. */
  readonly verdict: string;
}

export interface RunsQuery {
  /** A part of name, suite, model or data. */
  readonly text?: string;
  /** From 1. */
  readonly page?: number;
}

export interface RunsPage {
  readonly query: RunsQuery;
  readonly runs: readonly ListedRun[];
  readonly matching: number;
  readonly page: number;
  readonly pages: number;
}

const pageSize = 50;

type Verdict = Pick<ListedRun, 'gates' | 'verdict'>;

/** What runs with results say: these do not change, and each is a document of 100 kB and more. */
const said = new Map<string, Verdict>();

function verdictOf(database: BenchDatabase, run: RunHead): Verdict {
  const key = `${database.path}\n${run.id}\n${run.status}\n${run.finishedAt ?? ''}\n${run.resultsBytes ?? ''}`;
  const known = said.get(key);
  if (known !== undefined) return known;
  const results = run.resultsBytes === null ? null : new RunRepository(database).findById(run.id)?.results;
  if (results === null || results === undefined) return { gates: null, verdict: `${run.status}: no results yet` };
  const verdict = verdictOfResults(results as RunResults);
  said.set(key, verdict);
  return verdict;
}

function verdictOfResults(results: RunResults): Verdict {
  const failed = results.gates.filter(({ held }) => !held).map(({ gate }) => gate);
  return {
    gates: { held: results.gates.length - failed.length, failed },
    // The last sentence says for what it holds, which every run says.
    verdict:
      lackOfProof(results) ?? headline([results])[0] ?? verdictSentences(results).slice(0, -1)[0] ?? 'see its tables',
  };
}

/** Reads the runs, the latest first. */
export function readRunsPage(database: BenchDatabase, query: RunsQuery): RunsPage {
  const wanted = query.text?.toLowerCase();
  const all = new RunRepository(database).heads().reverse();
  const matching = all.filter((run) =>
    wanted === undefined
      ? true
      : [run.name, run.suite, run.status, run.model, run.dataset].some((text) => text?.toLowerCase().includes(wanted)),
  );
  const pages = Math.max(1, Math.ceil(matching.length / pageSize));
  const page = Math.min(query.page ?? 1, pages);
  return {
    query,
    matching: matching.length,
    page,
    pages,
    runs: matching.slice((page - 1) * pageSize, page * pageSize).map((run) => ({
      name: run.name,
      suite: run.suite,
      status: run.status,
      startedAt: new Date(run.startedAt).toISOString(),
      model: run.model ?? 'unknown',
      dataset: run.dataset ?? 'unknown',
      items: run.items,
      ...verdictOf(database, run),
    })),
  };
}
