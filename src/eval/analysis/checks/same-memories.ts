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

type Fault = keyof typeof FAULTS;

/** Not faults of arms that declare to show memories in other words. */
const ALLOWED: Readonly<Record<NonNullable<ArmTraits['rewords']>, readonly Fault[]>> = {
  each: ['altered'],
  together: ['altered', 'missing'],
};

/** True for arms that must show the same memories as their reference: all retrieved ones that fit. */
function showsAsReference({ retrieves, injects, reference, settings, rewords }: ArmTraits): boolean {
  // More memories fit if their texts are shorter.
  const sameSpace = settings.budget === undefined && rewords === undefined;
  return retrieves === 'retrieved' && injects !== 'preferences' && reference !== null && sameSpace;
}

/**
 * Same memories: all arms of an item use one retrieval. Each prompt shows all given memories that fit, word by word
 * or reworded as its arm declares, and none of the user's in another part, and arms with `@order=stable` show the most
 * often retrieved first. Arms with the rules of their reference arm show the same memories, in any order.
 */
export const sameMemories: Check = ({ arms, answered }) => {
  const observed = answered.filter((turn) => turn.observed.memories !== undefined);
  if (observed.length === 0) return undecided('same memories', 'the memories of no prompt were compared');
  const pairs = arms
    .filter(showsAsReference)
    .flatMap(({ name, reference }) => pairWithReference(observed, name, reference!))
    // An arm is given no memories if its gate decides to inject none.
    .filter(({ turn }) => turn.observed.memories!.given > 0);
  const rewording = new Map(arms.flatMap(({ name, rewords }) => (rewords === undefined ? [] : [[name, rewords]])));
  const lists = Object.keys(FAULTS) as Fault[];
  const faulty = lists.map((list) => [
    FAULTS[list],
    observed.filter(({ arm, observed: { memories } }) => {
      const rewords = rewording.get(arm);
      return (memories![list] ?? []).length > 0 && (rewords === undefined || !ALLOWED[rewords].includes(list));
    }),
  ]);
  const ids = ({ facts }: AnsweredResult): string[] => facts.memoryIds.toSorted();
  const faults = describeFaults({
    ...(Object.fromEntries(faulty) as Readonly<Record<string, typeof observed>>),
    'show other memories than their reference arm': turnsWhere(
      pairs,
      (own, other) => !isDeepStrictEqual(ids(own), ids(other)),
    ),
  });
  const reworded = observed.filter(({ arm }) => rewording.has(arm)).length;
  const evidence = [
    `${observed.length} turns show what they were given`,
    ...(reworded === 0 ? [] : [`${reworded} of them in other words, as their arms declare`]),
    `${pairs.length} of them the memories of their reference`,
  ].join(', ');
  const detects = `one memory in 1 of ${observed.length} turns`;
  return decided('same memories', faults === '', faults === '' ? evidence : faults, detects);
};
