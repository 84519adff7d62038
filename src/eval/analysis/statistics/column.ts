import { onceFor } from '../../../config/once-for.ts';

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

/** The value itself. @throws RangeError on NaN, which stands for null in columns of numbers */
export function notNaN<Value>(value: Value): Value {
  if (Number.isNaN(value)) throw new RangeError('a value of a turn is not a number');
  return value;
}

/** So many values have a code of one byte. */
const MOST_CODED = 256;

/**
 * The column of a lookup. A list looks up once for all its members, in their order, which is how turns stand in memory: arm by arm,
 * each would be waited for.
 * @throws RangeError as `notNaN`
 */
export function columnOf<Member, Value>(list: readonly Member[], lookup: Lookup<Member, Value>): Column<Value> {
  return columnsOf(list)(lookup) as Column<Value>;
}

const columnsOf = onceFor((list: readonly unknown[]) =>
  onceFor((lookup: Lookup<never, unknown>) => {
    const value = lookup.inList?.(list as readonly never[]) ?? ((place) => lookup.of(list[place] as never));
    const of = (place: number): unknown => notNaN(value(place));
    return codedColumn(list.length, of) ?? numberColumn(list.length, of) ?? wideColumn(list.length, of);
  }),
);

type Values = (place: number) => unknown;

/** A byte a member, and each value once; null where there are too many values for that. */
function codedColumn(length: number, of: Values): Column<unknown> | null {
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
  return { at: (place) => values[codes[place]!] };
}

/** Numbers and null, which NaN stands for; null where something else is among them. */
function numberColumn(length: number, of: Values): Column<unknown> | null {
  const numbers = new Float64Array(length);
  for (let place = 0; place < length; place++) {
    const value = of(place);
    if (value !== null && typeof value !== 'number') return null;
    numbers[place] = value ?? NaN;
  }
  return { at: (place) => (Number.isNaN(numbers[place]) ? null : numbers[place]) };
}

function wideColumn(length: number, of: Values): Column<unknown> {
  const values = Array.from({ length }, (_, place) => of(place));
  return { at: (place) => values[place] };
}
