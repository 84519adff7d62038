import { isDeepStrictEqual } from 'node:util';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { type Check, describeFaults, fail, pairWithReference, pass, turnsWhere, undecided } from './check.ts';

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

/** No faults of arms that declare to show memories in other words, or a part of them. */
function allowedFaults({ rewords, selects }: ArmTraits): readonly Fault[] {
  const missing = selects === true || rewords === 'together';
  return [...(rewords === undefined ? [] : ['altered' as const]), ...(missing ? ['missing' as const] : [])];
}

/** True for arms that must show the same memories as their reference: all retrieved ones that fit. */
function showsAsReference({ retrieves, injects, reference, settings, rewords, selects }: ArmTraits): boolean {
  // More memories fit if their texts are shorter.
  const sameSpace = settings.budget === undefined && rewords === undefined && selects === undefined;
  return retrieves === 'retrieved' && injects !== 'preferences' && reference !== null && sameSpace;
}

/**
 * Same memories: all arms of an item use one retrieval. Each prompt shows all given memories that fit, or those that its arm
 * declares to select, word by word or reworded as its arm declares, and none of the user's in another part, and arms with
 * `@order=stable` show the most often retrieved first. Arms with the rules of their reference arm show the same memories, in
 * any order.
 */
export const sameMemories: Check = ({ arms, answered }) => {
  const observed = answered.filter((turn) => turn.observed.memories !== undefined);
  if (observed.length === 0) return undecided('the memories of no prompt were compared');
  const pairs = arms
    .filter(showsAsReference)
    .flatMap(({ name, reference }) => pairWithReference(observed, name, reference!))
    // An arm is given no memories if its gate decides to inject none.
    .filter(({ turn }) => turn.observed.memories!.given > 0);
  const traits = new Map(arms.map((arm) => [arm.name, arm]));
  const lists = Object.keys(FAULTS) as Fault[];
  const faulty = lists.map((list) => {
    const having = observed.filter(({ observed: { memories } }) => (memories![list] ?? []).length > 0);
    return [FAULTS[list], having.filter(({ arm }) => !allowedFaults(traits.get(arm)!).includes(list))];
  });
  const ids = ({ facts }: AnsweredResult): string[] => facts.memoryIds.toSorted();
  const unlike = turnsWhere(pairs, (own, other) => !isDeepStrictEqual(ids(own), ids(other)));
  const faults = describeFaults({
    ...(Object.fromEntries(faulty) as Readonly<Record<string, typeof observed>>),
    'show other memories than their reference arm': unlike,
  });
  if (faults !== '') return fail(faults);
  const declared = (trait: 'rewords' | 'selects', what: string): string[] => {
    const turns = observed.filter(({ arm }) => traits.get(arm)![trait] !== undefined).length;
    return turns === 0 ? [] : [`${turns} of them ${what}, as their arms declare`];
  };
  const evidence = [
    `${observed.length} turns show what they were given`,
    ...declared('rewords', 'in other words'),
    ...declared('selects', 'a selection of it'),
    `${pairs.length} of them the memories of their reference`,
  ].join(', ');
  return pass(evidence, `one memory in 1 of ${observed.length} turns`);
};
