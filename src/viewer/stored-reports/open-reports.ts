import { randomUUID } from 'node:crypto';
import { join, relative } from 'node:path';
import { type BenchDatabase, openDatabase } from '../../store/database.ts';
import { RunRepository } from '../../store/run-repository.ts';
import { type ReportedRow, readReportOutcomes } from '../../report/outcomes.ts';
import type { RunResults } from '../../store/records/results.ts';
import { type RunRecord, runRecord } from '../../store/records/run-record.ts';
import { schemaVersion } from '../../store/records/schemas.ts';
import { readRecord } from '../../store/read-record.ts';
import { findReports, readReport } from './find-reports.ts';

/** Question and gold of an item. */
export interface ItemTexts {
  readonly query: string;
  readonly gold: string | null;
}

/** Texts that a reader has of a run's items, by id; null where no file of the reader's holds them. */
export type TextsOfRun = (run: RunRecord) => Promise<ReadonlyMap<string, ItemTexts> | null>;

/** Reports that were opened, as a database in memory. */
export interface OpenReports {
  readonly database: BenchDatabase;
  /** Names of runs whose reports hold no outcomes of their turns. */
  readonly withoutOutcomes: readonly string[];
}

function withTexts(row: ReportedRow, texts: ReadonlyMap<string, ItemTexts> | null): ReportedRow {
  const own = texts?.get(row.itemId);
  return own === undefined ? row : { ...row, question: own.query, gold: own.gold };
}

/**
 * Opens the reports of a folder, or one, without their database: runs with results, and the outcomes of their turns.
 * @param path a folder with reports, or a file of one
 * @throws BenchError `not-found` where there is none, `bad-data` and `database` for files that cannot be read
 */
export async function openReports(path: string, textsOf: TextsOfRun): Promise<OpenReports> {
  const folders = findReports(path);
  const database = openDatabase({ path: ':memory:' });
  const reports = new RunRepository(database);
  const taken = { ids: new Set<string>(), names: new Set<string>() };
  const withoutOutcomes: string[] = [];
  try {
    for (const folder of folders) {
      const results = readReport(folder);
      const read = reportedRun(results, join(folder, 'results.json'));
      // Copies of a report, and reports of two machines, may have one name.
      const name = taken.names.has(read.name) ? `${read.name} (${relative(path, folder)})` : read.name;
      const run = { ...read, name, id: taken.ids.has(read.id) ? randomUUID() : read.id };
      taken.names.add(run.name);
      taken.ids.add(run.id);
      const outcomes = readReportOutcomes(folder);
      if (outcomes === null) withoutOutcomes.push(run.name);
      const rows = outcomes ?? [];
      const texts = rows.length === 0 ? null : await textsOf(run);
      reports.add(
        run,
        results,
        rows.map((row) => withTexts(row, texts)),
      );
    }
    return { database, withoutOutcomes };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The record of a run as its results tell it, without probes. @param place the file, for messages */
function reportedRun({ run, arms }: RunResults, place: string): RunRecord {
  const { id, name, suite, seed, status, startedAt, finishedAt, settings, environment, armsNotRun, metrics } = run;
  const { model, embedder, dataset, retriever } = run;
  const plan = {
    arms: arms.map(({ traits }) => traits),
    armsNotRun,
    ...(metrics === undefined ? {} : { metrics }),
    settings,
  };
  return readRecord(
    runRecord,
    {
      ...{ schemaVersion, id, name, suite, status, seed, plan, environment, model, embedder, dataset, retriever },
      probes: null,
      startedAt: Date.parse(startedAt),
      finishedAt: finishedAt === null ? null : Date.parse(finishedAt),
    },
    place,
  );
}
