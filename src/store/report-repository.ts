import type { RunResults } from './records/results.ts';
import type { RunRecord } from './records/run-record.ts';
import { Repository } from './database.ts';
import { runs, turns } from './schema.ts';
import type { TurnListRow } from './turn-list-repository.ts';

/** Runs as their reports have them: results and turns as lists show them. */
export class ReportRepository extends Repository {
  /** Stores a run with its results and the rows of its turns, in their order. */
  add(run: RunRecord, results: RunResults, rows: readonly Omit<TurnListRow, 'turnId' | 'runId'>[]): void {
    this.database.transaction(() => {
      this.database.query
        .insert(runs)
        .values({ ...run, results })
        .run();
      for (const row of rows) {
        const state = row.error === null ? 'answered' : 'failed';
        const filled = { ...row, runId: run.id, state, sessionId: '', position: 0, createdAt: run.startedAt } as const;
        this.database.query.insert(turns).values(filled).run();
      }
    });
  }
}
