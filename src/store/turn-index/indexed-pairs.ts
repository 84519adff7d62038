import { onceFor } from '../../base/once-for.ts';
import { type ItemPairScores, pairMarks } from '../item-pair-scores.ts';
import { DIGEST_WORDS } from './index-parts.ts';
import { NONE } from './searched-texts.ts';
import type { ArmSide, PartReader } from './turn-index.ts';

/** Pairs two arms by item, in the order of A's first turns. */
export function indexedPairs(a: ArmSide, b: ArmSide): ItemPairScores {
  // Each is looked up once, not for every pair.
  const { userIds, userOfItem } = a.parts;
  const [ofA, ofB] = [answersOf(a.parts), answersOf(b.parts)];
  const inB = a.parts === b.parts ? null : itemsIn(a.parts)(b.parts);
  const itemOfB = (item: number): number => (inB === null ? item : inB[item]!);
  const items = itemsOfBoth(a, b, itemOfB);
  const [turnA, turnB] = [new Float64Array(items.length), new Float64Array(items.length)];
  const [successA, successB] = [new Float64Array(items.length), new Float64Array(items.length)];
  const userOf = new Uint32Array(items.length);
  const marks = new Uint8Array(items.length);
  for (let pair = 0; pair < items.length; pair++) {
    const item = items[pair]!;
    const other = itemOfB(item);
    const placeA = a.firsts[item]!;
    const placeB = b.firsts[other]!;
    userOf[pair] = userOfItem[item]!;
    turnA[pair] = ofA.turnIds[placeA]!;
    turnB[pair] = ofB.turnIds[placeB]!;
    successA[pair] = a.means[item]!;
    successB[pair] = b.means[other]!;
    if (a.turns[item] === 1 && b.turns[other] === 1) marks[pair]! += pairMarks.single;
    if (isSameAnswer(ofA, placeA, ofB, placeB)) marks[pair]! += pairMarks.sameAnswer;
    if (Object.is(ofA.golds[placeA], ofB.golds[placeB])) marks[pair]! += pairMarks.sameGold;
  }
  return { itemsA: a.order.length, itemsB: b.order.length, userIds, userOf, turnA, turnB, successA, successB, marks };
}

function itemsOfBoth({ order }: ArmSide, { turns }: ArmSide, itemOfB: (item: number) => number): Uint32Array {
  const items = new Uint32Array(order.length);
  let found = 0;
  for (const item of order) {
    const other = itemOfB(item);
    if (other !== NONE && turns[other]! > 0) items[found++] = item;
  }
  return items.subarray(0, found);
}

/** Numbers of turns by place. */
interface Answers {
  readonly turnIds: Float64Array;
  readonly digests: Uint32Array;
  /** Of the gold answer, ln p. */
  readonly golds: Float64Array;
}

function answersOf({ turnIds, answerDigests, goldLogProbabilities }: PartReader): Answers {
  return { turnIds, digests: answerDigests, golds: goldLogProbabilities };
}

function isSameAnswer(a: Answers, placeA: number, b: Answers, placeB: number): boolean {
  for (let word = 0; word < DIGEST_WORDS; word++) {
    if (a.digests[DIGEST_WORDS * placeA + word] !== b.digests[DIGEST_WORDS * placeB + word]) return false;
  }
  return true;
}

/** The numbers in B of the items of A; `NONE` of those that it does not have. */
const itemsIn = onceFor((a: PartReader) =>
  onceFor((b: PartReader) => {
    const numbers = new Map(b.itemIds.map((id, number) => [id, number]));
    return Uint32Array.from(a.itemIds, (id) => numbers.get(id) ?? NONE);
  }),
);
