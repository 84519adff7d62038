import { onceForTexts } from '../../base/once-for-texts.ts';
import type { TurnResult } from '../records/turn-result.ts';
import { resultColumns, valueOf } from './result-columns.ts';

export type Places = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

/** Some turns, column by column. */
export interface PackedResults {
  readonly turns: number;
  /** The distinct values of each column, undefined where turns have none; null for a column of numbers. */
  readonly values: readonly (readonly unknown[] | null)[];
  /** Of each column of several values, one after the other: the place of every turn's value among them. */
  readonly places: Places;
  /** Of each column of numbers, one after the other: every turn's number; NaN stands for null. */
  readonly numbers: Float64Array;
}

/** The distinct values of a column, and where every turn's stands among them. Documents are equal if their JSON is. */
function distinct(all: readonly unknown[]): {
  readonly values: readonly unknown[];
  readonly places: readonly number[];
} {
  const known = new Map<unknown, number>();
  const values: unknown[] = [];
  const places = all.map((value) => {
    const key = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
    const place = known.get(key);
    if (place !== undefined) return place;
    known.set(key, values.length);
    return values.push(value) - 1;
  });
  return { values, places };
}

function areNumbers(values: readonly unknown[]): values is readonly (number | null)[] {
  return values.every((value) => value === null || Number.isFinite(value));
}

/** Packs turns: numbers of which most turns have one of their own stand as they are, all else once for the turns that share it. */
export function packResults(turns: readonly TurnResult[]): PackedResults {
  const columns = resultColumns.map((column) => {
    const all = turns.map((turn) => valueOf(turn, column));
    const found = distinct(all);
    return 2 * found.values.length > turns.length && areNumbers(all)
      ? { values: null, places: [], numbers: all.map((value) => value ?? NaN) }
      : { values: found.values, places: found.values.length > 1 ? found.places : [], numbers: [] };
  });
  const most = Math.max(...columns.map(({ values }) => values?.length ?? 0));
  const Places = most <= 2 ** 8 ? Uint8Array : most <= 2 ** 16 ? Uint16Array : Uint32Array;
  return {
    turns: turns.length,
    values: columns.map(({ values }) => values),
    places: Places.from(columns.flatMap(({ places }) => places)),
    numbers: Float64Array.from(columns.flatMap(({ numbers }) => numbers)),
  };
}

/** Stands behind the values of a column, before the place of undefined among them, which JSON does not have. */
const MISSING = '?';

/** The values of columns as text: a line of JSON each. */
export function writeValues(values: PackedResults['values']): string {
  return values
    .map((some) => {
      const missing = some?.indexOf(undefined) ?? -1;
      return JSON.stringify(some) + (missing === -1 ? '' : `${MISSING}${missing}`);
    })
    .join('\n');
}

/** @throws SyntaxError on what is no JSON */
export function readValues(text: string): PackedResults['values'] {
  return text.split('\n').map((line) => shortOnce(line));
}

/** Most columns are as short as `[null]`, and the same for most users. */
const shortOnce = onceForTexts(readLine, { longest: 12, most: 10_000 });

function readLine(line: string): readonly unknown[] | null {
  const end = line.lastIndexOf(']') + 1;
  if (line[end] !== MISSING) return JSON.parse(line) as readonly unknown[] | null;
  const values = JSON.parse(line.slice(0, end)) as unknown[];
  values[Number(line.slice(end + 1))] = undefined;
  return values;
}

/** The places of so many turns, of whatever width they were stored in. */
export function readPlaces(stored: Uint8Array<ArrayBuffer>, turns: number, values: PackedResults['values']): Places {
  const varying = values.filter((some) => some !== null && some.length > 1).length;
  const Places = [Uint8Array, Uint16Array, Uint32Array].find(
    ({ BYTES_PER_ELEMENT }) => stored.length === BYTES_PER_ELEMENT * varying * turns,
  );
  if (Places === undefined)
    throw new RangeError(`${stored.length} bytes are no places of ${turns} turns in ${varying} columns`);
  return new Places(stored.buffer);
}
