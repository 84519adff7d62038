import { onceFor } from '../../../base/once-for.ts';

/** A thing to know of a turn, such as its arm or its time. */
export interface Lookup<Member, Value> {
  of(member: Member): Value;
  /** The values of the members of a list by their places, where that is quicker than to ask for one after the other. */
  inList?(list: readonly Member[]): (place: number) => Value;
}

/** The values of a lookup for the members of a list, by their places. */
export interface Column<Value> {
  at(place: number): Value;
}

/** The column of a list that was looked up as a whole. */
interface WholeColumn<Value> extends Column<Value> {
  /**
   * Writes its numbers one behind the other: those at some places, or all of them where `places` is null. NaN stands for null.
   * @throws RangeError on a value that is no number
   */
  copyNumbers(places: Uint32Array | null, into: Float64Array): void;
}

/** The values of a lookup for a list that asks for each once; `columnOf` keeps them for who comes again. */
export function readerOf<Member, Value>(
  list: readonly Member[],
  lookup: Lookup<Member, Value>,
): (place: number) => Value {
  return lookup.inList?.(list) ?? ((place) => lookup.of(list[place]!));
}

/** The value itself. @throws RangeError on NaN, which stands for null in columns of numbers */
export function notNaN<Value>(value: Value): Value {
  if (Number.isNaN(value)) throw notANumber();
  return value;
}

/** So many values have a code of one byte. */
const MOST_CODED = 256;

/**
 * The column of a lookup. A list looks up once for all its members, in their order, which is how turns stand in memory: arm by arm,
 * each would be waited for.
 * @throws RangeError as `notNaN`
 */
export function columnOf<Member, Value>(list: readonly Member[], lookup: Lookup<Member, Value>): WholeColumn<Value> {
  return columnsOf(list)(lookup) as WholeColumn<Value>;
}

const columnsOf = onceFor((list: readonly unknown[]) =>
  onceFor((lookup: Lookup<never, unknown>) => {
    const value = readerOf(list as readonly never[], lookup);
    const of = (place: number): unknown => notNaN(value(place));
    return codedColumn(list.length, of) ?? numberColumn(list.length, of) ?? wideColumn(list.length, of);
  }),
);

type Values = (place: number) => unknown;

/** A byte a member, and each value once; null where there are too many values for that. */
function codedColumn(length: number, of: Values): WholeColumn<unknown> | null {
  const codes = new Uint8Array(length);
  const known = new Map<unknown, number>();
  let [last, code]: [unknown, number] = [undefined, -1];
  for (let place = 0; place < length; place++) {
    const value = of(place);
    if (code === -1 || value !== last) {
      code = known.get(value) ?? known.size;
      if (code === MOST_CODED) return null;
      known.set(value, code);
      last = value;
    }
    codes[place] = code;
  }
  const values = [...known.keys()];
  return {
    at: (place) => values[codes[place]!],
    copyNumbers(places, into) {
      const numbers = Float64Array.from(values, asNumber);
      if (places === null) for (let place = 0; place < length; place++) into[place] = numbers[codes[place]!]!;
      else for (let index = 0; index < places.length; index++) into[index] = numbers[codes[places[index]!]!]!;
    },
  };
}

/** Numbers and null, which NaN stands for; null where something else is among them. */
function numberColumn(length: number, of: Values): WholeColumn<unknown> | null {
  const numbers = new Float64Array(length);
  for (let place = 0; place < length; place++) {
    const value = of(place);
    if (value !== null && typeof value !== 'number') return null;
    numbers[place] = value ?? NaN;
  }
  return {
    at: (place) => (Number.isNaN(numbers[place]) ? null : numbers[place]),
    copyNumbers(places, into) {
      if (places === null) into.set(numbers);
      else for (let index = 0; index < places.length; index++) into[index] = numbers[places[index]!]!;
    },
  };
}

function wideColumn(length: number, of: Values): WholeColumn<unknown> {
  const values = Array.from({ length }, (_, place) => of(place));
  return {
    at: (place) => values[place],
    copyNumbers() {
      throw notANumber();
    },
  };
}

function asNumber(value: unknown): number {
  if (value === null) return NaN;
  if (typeof value !== 'number') throw notANumber();
  return value;
}

function notANumber(): RangeError {
  return new RangeError('a value of a turn is not a number');
}
