import { isDeepStrictEqual } from 'node:util';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { Observed } from '../../../store/records/observed.ts';
import { type Check, decided, describeFaults, pairWithReference, turnsWhere, undecided } from './check.ts';

type Memories = NonNullable<Observed['memories']>;

/** Ways in which the memories in a prompt differ from those it was given. */
const FAULTS: readonly { readonly what: string; readonly isAtFault: (memories: Memories) => boolean }[] = [
  { what: 'show memories that they were not given', isAtFault: ({ foreign }) => foreign.length > 0 },
  { what: 'show memories in other words', isAtFault: ({ altered }) => altered.length > 0 },
  { what: 'lose memories that they were given', isAtFault: ({ missing }) => missing.length > 0 },
  { what: 'drop memories for which there is space', isAtFault: ({ hidden }) => hidden.length > 0 },
  {
    what: "have the user's memories outside of the part for memories",
    isAtFault: ({ elsewhere }) => elsewhere.length > 0,
  },
];

/** True for arms that must show the same memories as their reference: all retrieved ones that fit. */
function showsAsReference({ retrieves, injects, reference, settings }: ArmTraits): boolean {
  return retrieves === 'retrieved' && injects !== 'preferences' && reference !== null && settings.budget === undefined;
}

/**
 * Same memories: all arms of an item use one retrieval, and the prompt of each shows what its own rule allows, id by id and
 * word by word: all given memories that fit, and none of the user's memories anywhere else. Arms with the rules of their
 * reference show the same memories, in any order.
 */
export const sameMemories: Check = ({ arms, answered }) => {
  const observed = answered.filter((turn) => turn.observed.memories !== undefined);
  if (observed.length === 0) return undecided('same memories', 'the memories of no prompt were compared');
  const pairs = arms
    .filter(showsAsReference)
    .flatMap(({ name, reference }) => pairWithReference(observed, name, reference!))
    // A gate that injects nothing is given nothing.
    .filter(({ turn }) => turn.observed.memories!.given > 0);
  const faults = describeFaults([
    ...FAULTS.map(({ what, isAtFault }) => ({
      what,
      turns: observed.filter((turn) => isAtFault(turn.observed.memories!)),
    })),
    {
      what: 'show other memories than their reference arm',
      turns: turnsWhere(
        pairs,
        ({ facts }, other) => !isDeepStrictEqual(facts.memoryIds.toSorted(), other.facts.memoryIds.toSorted()),
      ),
    },
  ]);
  const evidence = `${observed.length} turns show what they were given, ${pairs.length} of them the memories of their reference`;
  return decided('same memories', faults === '', faults === '' ? evidence : faults);
};
