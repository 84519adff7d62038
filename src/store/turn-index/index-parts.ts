import { createHash } from 'node:crypto';
import { numbered } from '../../base/numbered.ts';
import { onceForTexts } from '../../base/once-for-texts.ts';
import { type TurnSort, turnSorts } from '../turn-list-order.ts';
import { Numbers } from './numbers.ts';
import { type SearchedTexts, TextsBuilder } from './searched-texts.ts';
import type { TurnKind } from './turn-kind.ts';

export type OrderName = `${TurnSort}/${'ascending' | 'descending'}`;

/** The numbers that turns are sorted by, in their order. */
export const sortNames = Object.keys(turnSorts) as TurnSort[];

/** A turn as an index reads it. */
export interface IndexedTurn {
  readonly turnId: number;
  readonly itemId: string;
  readonly userId: string;
  readonly question: string | null;
  readonly gold: string | null;
  readonly answer: string;
  readonly kind: TurnKind;
  /** In the order of `sortNames`. */
  readonly numbers: readonly (number | null)[];
}

/** Words of 32 bits of the digest of an answer. */
export const DIGEST_WORDS = 2;

/** The parts of an index of the turns of a run, which are stored and read one by one. A place is that of a turn in the order of writing. */
export interface IndexParts extends SearchedTexts {
  /** By place. */
  readonly turnIds: Float64Array;
  readonly kinds: readonly TurnKind[];
  /** The number of the kind of each turn, by place; as those of items and texts. */
  readonly kindOf: Uint32Array;
  /** In the order of writing. */
  readonly itemIds: readonly string[];
  readonly itemOf: Uint32Array;
  /** Sorted. */
  readonly userIds: readonly string[];
  /** The number of the user of each item. */
  readonly userOfItem: Uint32Array;
  /** By place; NaN where there is none. */
  readonly successes: Float64Array;
  readonly goldLogProbabilities: Float64Array;
  /** By place: the beginning of the SHA-256 of the answer, so that answers of two runs can be held against each other. */
  readonly answerDigests: Uint32Array;
  readonly questionOf: Uint32Array;
  readonly goldOf: Uint32Array;
  readonly answerOf: Uint32Array;
  /** Those that there are: numbers that no turn has give none. */
  readonly orderNames: readonly OrderName[];
  /** Places in the order of a number, those without it last. */
  readonly orders: ReadonlyMap<OrderName, Uint32Array>;
}

/** The index of these turns, which come in the order of writing. @param count so many */
export function indexParts(turns: Iterable<IndexedTurn>, count: number): IndexParts {
  const numbersOf = (): Uint32Array => new Uint32Array(count);
  const [kindOf, itemOf, questionOf, goldOf, answerOf] = [
    numbersOf(),
    numbersOf(),
    numbersOf(),
    numbersOf(),
    numbersOf(),
  ];
  const turnIds = new Float64Array(count);
  const numbers = sortNames.map(() => new Float64Array(count));
  const answerDigests = new Uint32Array(DIGEST_WORDS * count);
  const [kinds, items, texts] = [new Numbers(), new Numbers(), new TextsBuilder()];
  const users: string[] = [];
  const digestOf = onceForTexts(digest, { longest: 200, most: 10_000 });
  let place = 0;
  for (const { turnId, itemId, userId, kind, question, gold, answer, numbers: own } of turns) {
    turnIds[place] = turnId;
    kindOf[place] = kinds.of(JSON.stringify(kind));
    const item = items.of(itemId);
    itemOf[place] = item;
    users[item] = userId;
    questionOf[place] = texts.of(question);
    goldOf[place] = texts.of(gold);
    answerOf[place] = texts.of(answer);
    answerDigests.set(digestOf(answer), DIGEST_WORDS * place);
    for (const [index, number] of own.entries()) numbers[index]![place] = number ?? NaN;
    place++;
  }
  const orders = new Map(sortNames.flatMap((name, index) => ordersOf(name, numbers[index]!)));
  const { numbers: userOfItem, sorted: userIds } = numbered(users);
  return {
    ...{ turnIds, kindOf, itemOf, questionOf, goldOf, answerOf, answerDigests, userIds, userOfItem, ...texts.built() },
    successes: numbers[sortNames.indexOf('taskSuccess')]!,
    goldLogProbabilities: numbers[sortNames.indexOf('goldLogProbability')]!,
    kinds: kinds.texts().map((kind) => JSON.parse(kind) as TurnKind),
    itemIds: items.texts(),
    orderNames: [...orders.keys()],
    orders,
  };
}

function digest(text: string): Uint32Array {
  const { buffer } = new Uint8Array(createHash('sha256').update(text).digest());
  return new Uint32Array(buffer, 0, DIGEST_WORDS);
}

function ordersOf(name: TurnSort, numbers: Float64Array): [OrderName, Uint32Array][] {
  const all = Uint32Array.from(numbers.keys());
  const having = all.filter((place) => !Number.isNaN(numbers[place]));
  if (having.length === 0) return [];
  const lacking = all.filter((place) => Number.isNaN(numbers[place]));
  // Both sorts are stable: ties stand in the order of writing.
  const sorted = (sign: 1 | -1): Uint32Array => {
    const order = new Uint32Array(all.length);
    order.set(having.toSorted((a, b) => sign * (numbers[a]! - numbers[b]!)));
    order.set(lacking, having.length);
    return order;
  };
  return [
    [`${name}/ascending`, sorted(1)],
    [`${name}/descending`, sorted(-1)],
  ];
}
