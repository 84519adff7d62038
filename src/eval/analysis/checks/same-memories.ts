import { isDeepStrictEqual } from 'node:util';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { type Check, decided, describeFaults, pairWithReference, turnsWhere, undecided } from './check.ts';

/** The fault that each list of observed memory ids means if it is not empty. */
const FAULTS = {
  foreign: 'show memories that they were not given',
  altered: 'show memories in other words',
  missing: 'lose memories that they were given',
  hidden: 'drop memories for which there is space',
  elsewhere: "have the user's memories outside of the part for memories",
  misplaced: 'do not show the memories that were retrieved most often first',
} as const;

/** True for arms that must show the same memories as their reference: all retrieved ones that fit. */
function showsAsReference({ retrieves, injects, reference, settings }: ArmTraits): boolean {
  return retrieves === 'retrieved' && injects !== 'preferences' && reference !== null && settings.budget === undefined;
}

/**
 * Same memories: all arms of an item use one retrieval. Each prompt shows all given memories that fit, word by word,
 * and none of the user's in another part, and arms with `@order=stable` show the most often retrieved first. Arms with
 * the rules of their reference arm show the same memories, in any order.
 */
export const sameMemories: Check = ({ arms, answered }) => {
  const observed = answered.filter((turn) => turn.observed.memories !== undefined);
  if (observed.length === 0) return undecided('same memories', 'the memories of no prompt were compared');
  const pairs = arms
    .filter(showsAsReference)
    .flatMap(({ name, reference }) => pairWithReference(observed, name, reference!))
    // An arm is given no memories if its gate decides to inject none.
    .filter(({ turn }) => turn.observed.memories!.given > 0);
  const lists = Object.keys(FAULTS) as (keyof typeof FAULTS)[];
  const faulty = lists.map((list) => [
    FAULTS[list],
    observed.filter((turn) => (turn.observed.memories![list] ?? []).length > 0),
  ]);
  const ids = ({ facts }: AnsweredResult): string[] => facts.memoryIds.toSorted();
  const faults = describeFaults({
    ...(Object.fromEntries(faulty) as Readonly<Record<string, typeof observed>>),
    'show other memories than their reference arm': turnsWhere(
      pairs,
      (own, other) => !isDeepStrictEqual(ids(own), ids(other)),
    ),
  });
  const evidence = `${observed.length} turns show what they were given, ${pairs.length} of them the memories of their reference`;
  const detects = `one memory in 1 of ${observed.length} turns`;
  return decided('same memories', faults === '', faults === '' ? evidence : faults, detects);
};
