import { onceFor } from '../../base/once-for.ts';
import { onceForTexts } from '../../base/once-for-texts.ts';
import type { TurnListFilter } from '../turn-list-filter.ts';
import type { TurnListOrder, TurnListPlace } from '../turn-list-order.ts';
import type { IndexParts, OrderName } from './index-parts.ts';
import { NONE, textsHolding } from './searched-texts.ts';
import { isOfKind } from './turn-kind.ts';

/** Reads the parts of an index. */
export interface PartReader extends Omit<IndexParts, 'orders' | 'orderNames'> {
  /** Undefined where no turn has the number. */
  order(name: OrderName): Uint32Array | undefined;
}

/** A page of turns, by their ids. */
export interface IndexedPage {
  readonly turnIds: readonly number[];
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
  readonly matching: number;
}

/** Ids of items, of which a page is asked for: a list of them is one. */
export interface ItemIds {
  readonly length: number;
  /** From `start` on, `end` excluded. */
  slice(start: number, end: number): readonly string[];
}

/** The turns of one arm, item by item. */
export interface ArmSide {
  readonly parts: PartReader;
  /** The items, by number, in the order of their first turns. */
  readonly order: Uint32Array;
  /** Of every item of the run: the place of the first turn, the number of turns, and their mean task success, NaN without any. */
  readonly firsts: Uint32Array;
  readonly turns: Uint32Array;
  readonly means: Float64Array;
}

/** The turns that pass a filter. */
interface Passing {
  /** True for a place that is to be listed. */
  readonly is: (place: number) => boolean;
  readonly count: number;
}

/** Bits of an item: a turn of an arm answers it right, and one answers it wrong. */
const RIGHT = 1;
const WRONG = 2;

/** Arms whose sides and answers are kept: some 20 bytes an item each. */
const MOST_SIDES = 16;

/** Answers what lists ask of the turns of a run by walking over numbers in memory, some milliseconds for a million turns. */
export class TurnIndex {
  readonly #parts: PartReader;
  /** An arm's side of all items that it has turns of. */
  readonly sideOf = onceForTexts((arm): ArmSide => this.#sideOf(arm), { longest: Infinity, most: MOST_SIDES });

  /** An arm's answers: bits of every item. */
  readonly #answersOf = onceForTexts((arm) => this.#answersByItem(arm), { longest: Infinity, most: MOST_SIDES });

  constructor(parts: PartReader) {
    this.#parts = parts;
  }

  /** Turns of the run. */
  get turns(): number {
    return this.#parts.kindOf.length;
  }

  /** A page as `TurnListRepository.page` gives it. */
  page(filter: TurnListFilter, order: TurnListOrder, place: TurnListPlace, size: number): IndexedPage {
    const { turnIds } = this.#parts;
    const passing = this.#passing(filter);
    const inOrder = this.#inOrder(order);
    const turns = turnIds.length;
    const cursor = this.#stepOf(place.before ?? place.after, inOrder);
    const backwards = cursor !== undefined && place.before !== undefined;
    const found: number[] = [];
    const step = backwards ? -1 : 1;
    for (let at = cursor === undefined ? 0 : cursor + step; at >= 0 && at < turns && found.length <= size; at += step) {
      const one = inOrder?.[at] ?? at;
      if (passing.is(one)) found.push(turnIds[one]!);
    }
    const goesOn = found.length > size;
    const shown = found.slice(0, size);
    return {
      turnIds: backwards ? shown.reverse() : shown,
      hasPrevious: backwards ? goesOn : cursor !== undefined,
      hasNext: backwards || goesOn,
      matching: passing.count,
    };
  }

  /** The ids of the items of which a turn matches, in the order in which such turns were written. */
  items(filter: TurnListFilter): ItemIds {
    const { itemOf, userOfItem } = this.#parts;
    const passing = this.#passing(filter);
    const isFound = new Uint8Array(userOfItem.length);
    const found: number[] = [];
    for (let place = 0; place < itemOf.length; place++) {
      const item = itemOf[place]!;
      if (isFound[item] === 1 || !passing.is(place)) continue;
      isFound[item] = 1;
      found.push(item);
    }
    return {
      length: found.length,
      slice: (start, end) => found.slice(start, end).map((item) => this.#parts.itemIds[item]!),
    };
  }

  /** Turns that fail each check by themselves, by name of the check. */
  failedChecks(): ReadonlyMap<string, number> {
    const { kinds } = this.#parts;
    const turns = turnsOfKinds(this.#parts);
    const found = new Map<string, number>();
    for (const [number, { failedChecks }] of kinds.entries()) {
      for (const check of failedChecks?.split(',') ?? []) found.set(check, (found.get(check) ?? 0) + turns[number]!);
    }
    return found;
  }

  #sideOf(arm: string): ArmSide {
    const { kinds, kindOf, itemOf, successes, userOfItem } = this.#parts;
    const items = userOfItem.length;
    const isOfArm = Uint8Array.from(kinds, (kind) => Number(kind.arm === arm));
    const firsts = new Uint32Array(items).fill(NONE);
    const [turns, scored] = [new Uint32Array(items), new Uint32Array(items)];
    const [sums, lost] = [new Float64Array(items), new Float64Array(items)];
    const order = new Uint32Array(items);
    let found = 0;
    for (let place = 0; place < itemOf.length; place++) {
      if (isOfArm[kindOf[place]!] === 0) continue;
      const item = itemOf[place]!;
      if (turns[item]!++ === 0) {
        firsts[item] = place;
        order[found++] = item;
      }
      const success = successes[place]!;
      if (Number.isNaN(success)) continue;
      const sum = sums[item]! + success;
      // What rounding took from the sum, as SQLite adds: the order of repeats must not tell two means apart.
      lost[item]! += Math.abs(sums[item]!) >= success ? sums[item]! - sum + success : success - sum + sums[item]!;
      sums[item] = sum;
      scored[item]!++;
    }
    const means = sums.map((sum, item) => (sum + lost[item]!) / scored[item]!);
    return { parts: this.#parts, order: order.slice(0, found), firsts, turns, means };
  }

  /** The places in order; undefined where that is the order of writing. */
  #inOrder({ sort, descending }: TurnListOrder): Uint32Array | undefined {
    return sort === undefined ? undefined : this.#parts.order(`${sort}/${descending ? 'descending' : 'ascending'}`);
  }

  /** The step of an order at which a turn stands; undefined where it is not of the run. */
  #stepOf(turnId: number | undefined, inOrder: Uint32Array | undefined): number | undefined {
    if (turnId === undefined) return undefined;
    const place = this.#parts.turnIds.indexOf(turnId);
    if (place === -1) return undefined;
    return inOrder === undefined ? place : inOrder.indexOf(place);
  }

  #passing({ wrong, right, text, ...ofKind }: TurnListFilter): Passing {
    const { kinds, kindOf, itemOf } = this.#parts;
    const kindPasses = Uint8Array.from(kinds, (kind) => Number(isOfKind(kind, ofKind)));
    const itemPasses = this.#itemsPassing(wrong, right);
    if (itemPasses === null && text === undefined) {
      const turns = turnsOfKinds(this.#parts);
      const count = kindPasses.reduce((sum, passes, kind) => sum + passes * turns[kind]!, 0);
      return { is: (place) => kindPasses[kindOf[place]!] === 1, count };
    }
    // Every turn is asked, to count them: one loop a condition takes less time than one that asks for all.
    const marks = text === undefined ? new Uint8Array(kindOf.length).fill(1) : this.#turnsHolding(text);
    if (itemPasses !== null)
      for (let place = 0; place < marks.length; place++) marks[place]! &= itemPasses[itemOf[place]!]!;
    let count = 0;
    for (let place = 0; place < marks.length; place++) count += marks[place]! &= kindPasses[kindOf[place]!]!;
    return { is: (place) => marks[place] === 1, count };
  }

  /** Marks the turns whose question, gold or answer holds a part, with 1. */
  #turnsHolding(part: string): Uint8Array {
    const { questionOf, goldOf, answerOf } = this.#parts;
    const holding = textsHolding(this.#parts, part);
    const texts = holding.length;
    const marks = new Uint8Array(questionOf.length);
    for (const numberOf of [questionOf, goldOf, answerOf]) {
      for (let place = 0; place < marks.length; place++) {
        const number = numberOf[place]!;
        // NONE is behind the last text.
        if (number < texts) marks[place]! |= holding[number]!;
      }
    }
    return marks;
  }

  /** Marks the items that one arm answers wrong, and another right each time, with 1; null where neither is asked. */
  #itemsPassing(wrong: string | undefined, right: string | undefined): Uint8Array | null {
    if (wrong === undefined && right === undefined) return null;
    const byWrong = wrong === undefined ? null : this.#answersOf(wrong);
    const byRight = right === undefined ? null : this.#answersOf(right);
    const isWrong = (item: number): boolean => byWrong === null || (byWrong[item]! & WRONG) !== 0;
    const isRight = (item: number): boolean => byRight === null || byRight[item] === RIGHT;
    return new Uint8Array(this.#parts.userOfItem.length).map((_, item) => Number(isWrong(item) && isRight(item)));
  }

  #answersByItem(arm: string): Uint8Array {
    const { kinds, kindOf, itemOf, userOfItem } = this.#parts;
    const bitOf = { right: RIGHT, wrong: WRONG };
    const bits = Uint8Array.from(kinds, (kind) => (kind.arm === arm && kind.answer !== null ? bitOf[kind.answer] : 0));
    const answers = new Uint8Array(userOfItem.length);
    for (let place = 0; place < itemOf.length; place++) answers[itemOf[place]!]! |= bits[kindOf[place]!]!;
    return answers;
  }
}

/** The number of turns of each kind. */
const turnsOfKinds = onceFor(({ kinds, kindOf }: PartReader) => {
  const turns = new Uint32Array(kinds.length);
  for (const kind of kindOf) turns[kind]!++;
  return turns;
});
