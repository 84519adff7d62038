import { z } from 'zod';
import { BenchError } from '../../base/bench-error.ts';
import type { TurnListRow } from '../../store/schema.ts';
import { type OutcomeColumn, outcomeColumns } from '../../store/records/outcome-columns.ts';
import { schemaVersion } from '../../store/records/schema-version.ts';

const number = z.number().nullable();
const text = z.string().nullable();

/** A turn by the names of its columns. */
const turn = z.object({
  ...{ arm: z.string(), repeat: z.number(), turn: z.number(), cache: text },
  ...{ taskSuccess: number, primaryValue: number, exactMatch: number, tokenF1: number, memoryRecall: number },
  ...{ rougeL: number, bleu: number, abstention: number, goldLogProbability: number, freeLogProbability: number },
  ...{ evidenceRank: number, wrongClass: text, failedStage: text, failedChecks: text },
  truncated: z.union([z.literal(0), z.literal(1)]).transform((mark) => mark === 1),
  ...{ firstTokenMs: number, totalMs: number },
  ...{ promptTokens: number, kvResidentTokens: number, evaluatedTokens: number, generatedTokens: number },
  ...{ answer: z.string(), error: text },
} satisfies Record<OutcomeColumn, z.ZodType>);

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

/** A row of lists as a report has it: without the ids that a database gives. */
export type ReportedRow = Omit<TurnListRow, 'turnId' | 'runId'>;

function jsonOf(line: string, place: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new BenchError('bad-data', `${place}: no JSON`, again, error);
  }
}

function read<Schema extends z.ZodType>(schema: Schema, value: unknown, place: string): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new BenchError('bad-data', `${place}: ${issue!.path.join('.')}: ${issue!.message}`, again, parsed.error);
}

const again = 'write the report again: npm run tables -- --run NAME --write';

/** Marks the turns of an item on which arms disagree. */
function withDisagreement(rows: readonly ReportedRow[]): ReportedRow[] {
  const outcomes = new Set(rows.flatMap(({ taskSuccess }) => taskSuccess ?? []));
  return rows.map((row) => ({ ...row, disagreeing: outcomes.size > 1 }));
}

/**
 * Reads the rows that `outcomeLines` wrote.
 * @param place the file, for messages
 * @throws BenchError `bad-data` that names file, line and field
 */
export function readOutcomes(text: string, place: string): ReportedRow[] {
  const [first = '', ...lines] = text.split('\n').filter((line) => line !== '');
  const { columns } = read(head, jsonOf(first, `${place}:1`), `${place}:1`);
  const missing = outcomeColumns.find((column) => !columns.includes(column));
  if (missing !== undefined) throw new BenchError('bad-data', `${place}:1: columns: no "${missing}"`, again);
  const places = outcomeColumns.map((column) => [column, columns.indexOf(column)] as const);
  return lines.flatMap((line, index) => {
    const here = `${place}:${index + 2}`;
    const { turns, itemId, userId, category, query: question, gold } = read(item, jsonOf(line, here), here);
    const rows = turns.map((values): ReportedRow => {
      const named = Object.fromEntries(places.map(([column, at]) => [column, values[at]]));
      return { ...read(turn, named, here), itemId, userId, category, question, gold, disagreeing: false };
    });
    return withDisagreement(rows);
  });
}
