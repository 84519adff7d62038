import type { TurnKey } from '../../../records/turn-record.ts';
import type { Observation, Observations } from './observations.ts';

/** One value an item. */
interface ItemObservation extends Observation {
  readonly itemId: string;
}

type TurnOfItem = Pick<TurnKey, 'itemId' | 'userId'>;

/** The items of a list of turns by number, in the order in which they come. */
interface ItemNumbers {
  /** Of each turn. */
  readonly ofTurns: Uint32Array;
  /** The first turn of each. */
  readonly firstTurns: readonly TurnOfItem[];
}

/** A list is asked for many values: its items are looked up once. */
const numbered = new WeakMap<readonly TurnOfItem[], ItemNumbers>();

function itemNumbers(turns: readonly TurnOfItem[]): ItemNumbers {
  const known = numbered.get(turns);
  if (known !== undefined) return known;
  const numbers = new Map<string, number>();
  const firstTurns: TurnOfItem[] = [];
  const ofTurns = Uint32Array.from(turns, (turn) => {
    const number = numbers.get(turn.itemId);
    if (number !== undefined) return number;
    numbers.set(turn.itemId, firstTurns.length);
    return firstTurns.push(turn) - 1;
  });
  const made = { ofTurns, firstTurns };
  numbered.set(turns, made);
  return made;
}

/** A value of every item, averaged over its repeats; turns without that value are left out. */
export function perItem<Turn extends TurnOfItem>(
  turns: readonly Turn[],
  value: (turn: Turn) => number | null,
): Observations<ItemObservation> {
  const { ofTurns, firstTurns } = itemNumbers(turns);
  const sums = new Float64Array(firstTurns.length);
  const counts = new Uint32Array(firstTurns.length);
  const items: number[] = [];
  turns.forEach((turn, place) => {
    const one = value(turn);
    if (one === null) return;
    const item = ofTurns[place]!;
    sums[item]! += one;
    if (counts[item]!++ === 0) items.push(item);
  });
  return {
    length: items.length,
    *[Symbol.iterator]() {
      for (const item of items) {
        const { itemId, userId } = firstTurns[item]!;
        yield { itemId, userId, value: sums[item]! / counts[item]! };
      }
    },
  };
}

/** The items that both have, side by side, in the order of `a`. */
export function paired(
  a: Observations<ItemObservation>,
  b: Observations<ItemObservation>,
): { readonly userId: string; readonly a: number; readonly b: number }[] {
  const others = new Map<string, number>();
  for (const { itemId, value } of b) others.set(itemId, value);
  const pairs = [];
  for (const { itemId, userId, value } of a) {
    const other = others.get(itemId);
    if (other !== undefined) pairs.push({ userId, a: value, b: other });
  }
  return pairs;
}
