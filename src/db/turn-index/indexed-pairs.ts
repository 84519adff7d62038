import { onceFor } from '../../config/once-for.ts';
import { type ItemPairScores, pairMarks } from '../item-pair-scores.ts';
import { DIGEST_WORDS } from './index-parts.ts';
import { NONE } from './searched-texts.ts';
import type { ArmSide, PartReader } from './turn-index.ts';

/** Pairs two arms by item, in the order of A's first turns. */
export function indexedPairs(a: ArmSide, b: ArmSide): ItemPairScores {
  const inB = a.parts === b.parts ? null : itemsIn(a.parts)(b.parts);
  const itemOfB = (item: number): number => (inB === null ? item : inB[item]!);
  const items = Uint32Array.from(a.order).filter((item) => itemOfB(item) !== NONE && b.turns[itemOfB(item)]! > 0);
  const others = items.map(itemOfB);
  const [firstsA, firstsB] = [items.map((item) => a.firsts[item]!), others.map((item) => b.firsts[item]!)];
  return {
    itemsA: a.order.length,
    itemsB: b.order.length,
    userIds: a.parts.userIds,
    userOf: items.map((item) => a.parts.userOfItem[item]!),
    turnA: Float64Array.from(firstsA, (place) => a.parts.turnIds[place]!),
    turnB: Float64Array.from(firstsB, (place) => b.parts.turnIds[place]!),
    successA: Float64Array.from(items, (item) => a.means[item]!),
    successB: Float64Array.from(others, (item) => b.means[item]!),
    marks: Uint8Array.from(items, (item, pair) => {
      const [placeA, placeB] = [firstsA[pair]!, firstsB[pair]!];
      return (
        pairMarks.single * Number(a.turns[item] === 1 && b.turns[others[pair]!] === 1) +
        pairMarks.sameAnswer * Number(isSameAnswer(a.parts, placeA, b.parts, placeB)) +
        pairMarks.sameGold *
          Number(Object.is(a.parts.goldLogProbabilities[placeA], b.parts.goldLogProbabilities[placeB]))
      );
    }),
  };
}

function isSameAnswer(a: PartReader, placeA: number, b: PartReader, placeB: number): boolean {
  for (let word = 0; word < DIGEST_WORDS; word++) {
    if (a.answerDigests[DIGEST_WORDS * placeA + word] !== b.answerDigests[DIGEST_WORDS * placeB + word]) return false;
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
