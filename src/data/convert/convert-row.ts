import { BenchError, formatValue } from '../../base/bench-error.ts';
import { type Field, type ColumnMapping, itemFields, knownFields, memoryFields } from './column-mapping.ts';
import { readInstant } from './dates.ts';
import type { ConversionNotes, SourceItem, SourceMemory, SourceRecord } from './source-record.ts';
import { isAbstention } from '../abstention.ts';
import { detectLanguage } from '../../base/language.ts';
import { mismatch } from '../check-schema.ts';

export interface Row {
  readonly place: string;
  readonly values: readonly (readonly [column: string, value: unknown])[];
}

export const LIST_SEPARATOR = /[;；]/u;
/** Most columns that a message or note names. */
export const SHOWN_COLUMNS = 50;
const flags: Readonly<Record<string, boolean>> = { true: true, 1: true, yes: true, false: false, 0: false, no: false };

/** The non-empty fields of one row. Its functions throw `bad-data` that names row and field. */
function rowCells({ place, values: given }: Row, names: ColumnMapping, notes: ConversionNotes) {
  const values = new Map<Field, unknown>();
  const columns = new Map<Field, string>();
  for (const [column, value] of given) {
    const field = names.field(column);
    if (field === undefined) continue;
    const other = columns.get(field);
    if (other !== undefined) {
      const message = `${place}: columns "${other}" and "${column}" both hold ${field}`;
      throw new BenchError('bad-data', message, `choose one: --map ${field}=${column}`);
    }
    columns.set(field, column);
    if (value === null || value === undefined || (typeof value === 'string' && value.trim() === '')) continue;
    values.set(field, value);
  }

  function bad(field: Field, what: string): BenchError {
    const hint = `--map ${field}=COLUMN names another column for ${field}`;
    return mismatch(`${place}: ${field}`, what, formatValue(values.get(field)), hint);
  }

  /** Reads a text; numbers and booleans of JSON become text. */
  function text(field: Field): string | undefined {
    const value = values.get(field);
    if (value === undefined || typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    throw bad(field, 'a text');
  }

  /** The texts of a JSON list; undefined for any other value. */
  function entries(field: Field): string[] | undefined {
    const value = values.get(field);
    if (!Array.isArray(value)) return undefined;
    return value.map((entry: unknown) => {
      if (typeof entry === 'string' || typeof entry === 'number') return String(entry);
      throw bad(field, 'a list of texts');
    });
  }

  /** How fields are read, by their kind. */
  const readers = {
    text,
    /** Texts: a JSON list, or one text that is split at semicolons. */
    list(field: Field): string[] | undefined {
      const parts = entries(field) ?? text(field)?.split(LIST_SEPARATOR);
      return parts?.map((part) => part.trim()).filter((part) => part !== '');
    },
    /** One text, or the texts of a JSON list. `RecordCompleter` splits a text that names several memories. */
    texts(field: Field): string[] | undefined {
      const read = entries(field) ?? text(field);
      return typeof read === 'string' ? [read] : read;
    },
    instant(field: Field): string | undefined {
      const read = text(field);
      if (read === undefined) return undefined;
      const instant = readInstant(read);
      if (instant === undefined) throw bad(field, 'a time such as 2026-03-01T09:00:00Z or 2026-03-01');
      if (!instant.zoned) notes.add(`${field} without a time zone was taken as UTC`, place);
      return instant.iso;
    },
    number(field: Field): number | undefined {
      const read = text(field);
      const number = read === undefined ? undefined : Number(read);
      if (number === undefined || Number.isFinite(number)) return number;
      throw bad(field, 'a number');
    },
    flag(field: Field): boolean | undefined {
      const read = text(field)?.trim().toLowerCase();
      if (read === undefined || Object.hasOwn(flags, read)) return flags[read ?? ''];
      throw bad(field, 'true or false');
    },
    json(field: Field): unknown {
      const value = values.get(field);
      if (typeof value !== 'string') return value;
      try {
        return JSON.parse(value) as unknown;
      } catch (error) {
        const { message } = bad(field, 'a JSON list');
        throw new BenchError('bad-data', message, 'such as [{"role":"user","content":"Hello"}]', error);
      }
    },
  };

  return {
    has: (field: Field): boolean => values.has(field),
    /** Reads all `fields` by their kinds. Keys of the result are names of record fields. */
    readAll(fields: typeof memoryFields | typeof itemFields): Readonly<Record<string, unknown>> {
      const read = Object.entries(fields).map(([field, kind]) => {
        const name = field.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
        return [name, readers[kind](field as Field)] as const;
      });
      return Object.fromEntries(read);
    },
    required(field: Field): string {
      const read = text(field);
      if (read !== undefined) return read;
      const missing = bad(field, 'a text');
      const near = names.unused().find((column) => column.endsWith(`(did you mean ${field}?)`));
      throw near === undefined
        ? missing
        : new BenchError('bad-data', `${missing.message}; column ${near}`, missing.hint);
    },
  };
}

/** The golds; none if all decline, as "I don't know" does. */
function withoutRefusals(golds: readonly string[], notes: ConversionNotes, place: string): readonly string[] {
  const refuses = golds.length > 0 && golds.every((gold) => isAbstention(gold, '', detectLanguage(gold)));
  if (refuses) notes.add('an answer such as "I don\'t know" was written as null: abstaining is right', place);
  return refuses ? [] : golds;
}

/**
 * Yields the memory of a row, its question, or both; then the memory is the evidence unless the row names other.
 * @throws BenchError `bad-data` that names row and field
 */
export function* convertRow(row: Row, names: ColumnMapping, notes: ConversionNotes): Generator<SourceRecord> {
  const cells = rowCells(row, names, notes);
  const { place } = row;
  const hasMemory = cells.has('memory');
  if (!hasMemory && !cells.has('question')) {
    const columns = row.values.slice(0, SHOWN_COLUMNS).map(([column]) => names.withNearField(column));
    const message = `${place}: expected a memory, a question or both, got columns ${columns.join(', ')}`;
    throw new BenchError('bad-data', message, `name columns with --map; the fields are ${knownFields.join(', ')}`);
  }
  const userId = cells.required('user');
  if (hasMemory) {
    const memory = { kind: 'memory', place, userId, content: cells.required('memory') };
    yield { ...memory, ...cells.readAll(memoryFields) } as SourceMemory;
  }
  if (!cells.has('question')) return;
  const read = cells.readAll(itemFields) as Partial<Omit<SourceItem, 'answer'>> & { readonly answer?: string[] };
  const { answer: golds = [], acceptedAnswers = [], ...others } = read;
  const [answer = null, ...more] = withoutRefusals(golds, notes, place);
  const accepted = [...more, ...acceptedAnswers];
  const fields = { ...others, ...(accepted.length === 0 ? {} : { acceptedAnswers: accepted }) };
  const { evidence = hasMemory && answer !== null ? 'preceding' : [] } = others;
  yield { ...fields, kind: 'item', place, userId, query: cells.required('question'), answer, evidence };
}
