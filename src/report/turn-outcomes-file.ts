/** File of a report with the outcomes of its turns, in compressed JSON Lines: the viewer shows them without the database. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { BenchError } from '../base/bench-error.ts';
import { privateTextHash } from '../base/private-text-hash.ts';
import { storesTexts, withholdsTexts } from '../eval/analysis/text-restrictions.ts';
import { unknownQuality } from '../eval/analysis/unknown-quality.ts';
import { escapedControls } from '../render/escape-control-characters.ts';
import type { BenchDatabase } from '../store/database.ts';
import { judgingColumns, type OutcomeColumn, outcomeColumns } from '../store/turn-list-repository.ts';
import type { RunRecord } from '../store/records/run-record.ts';
import { formerWrongClasses } from '../store/records/turn-record.ts';
import { schemaVersion } from '../store/records/schema-version.ts';
import { RunRepository } from '../store/run-repository.ts';
import { TurnListRepository, type TurnListRow } from '../store/turn-list-repository.ts';
import { OUTCOMES_FILE, parseReportJson, readReportText, rewriteHint } from './report-files.ts';

/** Significant digits of numbers; more would make up a third of the file. */
const DIGITS = 5;
/** Length of the hash that replaces a hidden answer: enough to tell answers apart. */
const HASH_CHARACTERS = 'sha256:'.length + 16;

function cellValue(row: TurnListRow, column: OutcomeColumn): string | number | null {
  const value = row[column];
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value;
}

/**
 * The outcomes of a run's turns as JSON Lines: a header line with the names of the columns, then a line per item with the values
 * of its turns in this order. If texts are withheld or were not stored, hashes replace answers, and questions and golds are missing.
 * @param rows all turns of the run, in the order in which they were written
 */
export function outcomeLines(run: RunRecord, rows: Iterable<TurnListRow>): string {
  const hidden = withholdsTexts(run) || !storesTexts(run);
  const isNull = new Set<OutcomeColumn>(unknownQuality(run.model) === null ? [] : judgingColumns);
  const cell = (row: TurnListRow, column: OutcomeColumn): string | number | null => {
    const value = isNull.has(column) ? null : cellValue(row, column);
    if (!hidden || typeof value !== 'string') return value;
    if (column === 'answer') return privateTextHash(value).slice(0, HASH_CHARACTERS);
    return column === 'error' ? 'failed' : value;
  };
  const items = [...Map.groupBy(rows, ({ itemId }) => itemId)].map(([itemId, turns]) => {
    const known = turns.find(({ question }) => question !== null);
    return {
      itemId,
      userId: turns[0]!.userId,
      category: turns.find(({ category }) => category !== null)?.category ?? null,
      ...(hidden ? {} : { query: known?.question ?? null, gold: known?.gold ?? null }),
      turns: turns.map((row) => outcomeColumns.map((column) => cell(row, column))),
    };
  });
  const head = { schemaVersion, run: run.name, columns: outcomeColumns };
  return [head, ...items].map((line) => `${escapedControls(JSON.stringify(line))}\n`).join('');
}

/** `outcomeLines` of a run in the database. @throws BenchError `database` if it cannot be read */
export function storedOutcomes(database: BenchDatabase, runId: string): string {
  const run = new RunRepository(database).findById(runId)!;
  return outcomeLines(run, new TurnListRepository(database).rows(runId));
}

const nullableTexts: readonly OutcomeColumn[] = ['cache', 'failedStage', 'failedChecks', 'error'];

function columnSchema(column: OutcomeColumn): z.ZodType {
  if (column === 'truncated') return z.union([z.literal(0), z.literal(1)]).transform((mark) => mark === 1);
  if (column === 'arm' || column === 'answer') return z.string();
  if (column === 'wrongClass')
    return z
      .string()
      .transform((name) => formerWrongClasses[name] ?? name)
      .nullable();
  if (column === 'repeat' || column === 'turn') return z.number();
  return (nullableTexts.includes(column) ? z.string() : z.number()).nullable();
}

const turn = z.object(Object.fromEntries(outcomeColumns.map((column) => [column, columnSchema(column)])));

const head = z.object({
  schemaVersion: z.literal(schemaVersion),
  run: z.string(),
  columns: z.array(z.string()).readonly(),
});

const item = z.object({
  itemId: z.string(),
  userId: z.string(),
  category: z.string().nullable(),
  query: z.string().nullable().default(null),
  gold: z.string().nullable().default(null),
  turns: z.array(z.array(z.unknown()).readonly()).readonly(),
});

/** A turn as a report has it: without database ids. */
export type ReportedRow = Omit<TurnListRow, 'turnId'>;

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, place: string): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new BenchError('bad-data', `${place}: ${issue!.path.join('.')}: ${issue!.message}`, rewriteHint, parsed.error);
}

/** Reads what `outcomeLines` wrote. @throws BenchError `bad-data` that names file, line and field */
export function readOutcomes(lines: string, file: string): ReportedRow[] {
  const [first = '', ...others] = lines.split('\n').filter((line) => line !== '');
  const { columns } = parse(head, parseReportJson(first, `${file}:1`), `${file}:1`);
  const missing = outcomeColumns.find((column) => !columns.includes(column));
  if (missing !== undefined) throw new BenchError('bad-data', `${file}:1: columns: no "${missing}"`, rewriteHint);
  const indexes = outcomeColumns.map((column) => [column, columns.indexOf(column)] as const);
  return others.flatMap((line, index) => {
    const place = `${file}:${index + 2}`;
    const { turns, query: question, ...ofItem } = parse(item, parseReportJson(line, place), place);
    const parsed = turns.map((values) => {
      const named = Object.fromEntries(indexes.map(([column, at]) => [column, values[at]]));
      return parse(turn, named, place) as Pick<ReportedRow, OutcomeColumn>;
    });
    return parsed.map((row): ReportedRow => ({ ...row, ...ofItem, question }));
  });
}

/** Reads the outcomes of a report; old reports have them uncompressed. Null if there are none. @throws BenchError as `readOutcomes` */
export function readReportOutcomes(folder: string): ReportedRow[] | null {
  const files = [OUTCOMES_FILE, 'outcomes.jsonl'].map((name) => join(folder, name));
  const file = files.find((path) => existsSync(path));
  return file === undefined ? null : readOutcomes(readReportText(file), file);
}
