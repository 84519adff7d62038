import type { FailedTurn } from '../records/turn-record.ts';
import type { TurnResult } from '../records/turn-result.ts';
import { type ResultColumn, resultColumns, valueOf } from './result-columns.ts';
import type { PackedResults, Places } from './packed-results.ts';

/** The start of a column of one value, which has no places. */
const CONSTANT = -1;

/** Packed results, of which single values are asked for. */
class Columns {
  readonly #values: PackedResults['values'];
  readonly #places: Places;
  readonly #numbers: Float64Array;
  /** Of each column, among the places or among the numbers. */
  readonly #starts: Int32Array;

  constructor({ turns, values, places, numbers }: PackedResults) {
    this.#values = values;
    this.#places = places;
    this.#numbers = numbers;
    const next = { place: 0, number: 0 };
    this.#starts = Int32Array.from(values, (some) => {
      if (some?.length === 1) return CONSTANT;
      const kind = some === null ? 'number' : 'place';
      next[kind] += turns;
      return next[kind] - turns;
    });
  }

  at(column: number, turn: number): unknown {
    const values = this.#values[column] ?? null;
    const start = this.#starts[column]!;
    if (values !== null) return values[start === CONSTANT ? 0 : this.#places[start + turn]!];
    return numberOrNull(this.#numbers[start + turn]!);
  }

  /** As `at`, for many turns of one column. */
  reader(column: number): (turn: number) => unknown {
    const values = this.#values[column] ?? null;
    const start = this.#starts[column]!;
    const [places, numbers] = [this.#places, this.#numbers];
    if (values === null) return (turn) => numberOrNull(numbers[start + turn]!);
    if (start !== CONSTANT) return (turn) => values[places[start + turn]!];
    const value = values[0];
    return () => value;
  }
}

function numberOrNull(number: number): number | null {
  return Number.isNaN(number) ? null : number;
}

const COLUMNS = Symbol('columns');
const TURN = Symbol('turn');

/** A turn, or a group of its fields, whose fields are looked up when they are asked for. */
interface View {
  readonly [COLUMNS]: Columns;
  readonly [TURN]: number;
}

type Views = new (columns: Columns, turn: number) => View;

/** The class of a group, or of turns. No class extends another: objects of a derived one take longer to make. */
function viewsOf(group: string | null): Views {
  const Found = class implements View {
    readonly [COLUMNS]: Columns;
    readonly [TURN]: number;

    constructor(columns: Columns, turn: number) {
      this[COLUMNS] = columns;
      this[TURN] = turn;
    }
  };
  for (const [number, column] of resultColumns.entries()) {
    if (column.group !== group) continue;
    define(Found, column.field, function () {
      return this[COLUMNS].at(number, this[TURN]);
    });
  }
  return Found;
}

function define(views: Views, field: string, get: (this: View) => unknown): void {
  Object.defineProperty(views.prototype, field, { get, enumerable: true });
}

const TurnView = viewsOf(null);
for (const group of new Set(resultColumns.flatMap(({ group }) => group ?? []))) {
  const Group = viewsOf(group);
  define(TurnView, group, function () {
    return new Group(this[COLUMNS], this[TURN]);
  });
}

/** The turns that were packed. Fields of those that were answered are read when they are asked for: they cannot be spread. */
export function unpackResults(packed: PackedResults): TurnResult[] {
  const columns = new Columns(packed);
  return Array.from({ length: packed.turns }, (_, turn) => {
    const view = new TurnView(columns, turn) as unknown as TurnResult;
    return view.state === 'failed' ? plainFailure(view) : view;
  });
}

/**
 * A field of some turns by their places, for who asks for it of all of them in their order: turns that were packed together have one
 * column.
 */
export function fieldOfTurns(turns: readonly TurnResult[], field: ResultColumn): (place: number) => unknown {
  const number = resultColumns.findIndex(({ group, field: name }) => group === field.group && name === field.field);
  let columns: Columns | undefined;
  let read: (turn: number) => unknown = () => undefined;
  return (place) => {
    const turn = turns[place]!;
    if (!isView(turn)) return valueOf(turn, field);
    if (turn[COLUMNS] !== columns) {
      columns = turn[COLUMNS];
      read = columns.reader(number);
    }
    return read(turn[TURN]);
  };
}

function isView(turn: TurnResult): turn is TurnResult & View {
  return COLUMNS in turn;
}

/** There are few of them, and they have few fields. */
function plainFailure({ state, itemId, userId, arm, repeat, turn, position, error }: FailedTurn): FailedTurn {
  return { state, itemId, userId, arm, repeat, turn, position, error };
}
