import { isDeepStrictEqual } from 'node:util';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { Observed } from '../../../store/records/observed.ts';
import { whereOf } from '../statistics/sublist.ts';
import { turnField } from '../turn-field.ts';
import { type Check, decided, examples, undecided } from './check.ts';
import { pairsOf, turnsWhere } from './pairs-of.ts';

const MEMORIES = turnField('observed', 'memories');
const MEMORY_IDS = turnField('facts', 'memoryIds');

type Memories = NonNullable<Observed['memories']>;

/** Ways in which an arm shows other memories than it was given. */
const FAULTS: readonly { readonly what: string; readonly of: (memories: Memories) => boolean }[] = [
  { what: 'show memories that they were not given', of: ({ foreign }) => foreign.length > 0 },
  { what: 'show memories in other words', of: ({ altered }) => altered.length > 0 },
  { what: 'lose memories that they were given', of: ({ missing }) => missing.length > 0 },
  { what: 'drop memories for which there is space', of: ({ hidden }) => hidden.length > 0 },
  { what: "have the user's memories outside of the part for memories", of: ({ elsewhere }) => elsewhere.length > 0 },
];

/** True for arms that are shown what the retriever found, all that fits: as many as their reference. */
function showsAsReference({ retrieves, injects, reference, settings }: ArmTraits): boolean {
  return retrieves === 'retrieved' && injects !== 'preferences' && reference !== null && settings.budget === undefined;
}

/**
 * Same memories: one retrieval for all arms of an item, and what stands in the prompt of each is what its own rule allows, id by
 * id and word by word: all that fit of what it was given, and nothing of the user's anywhere else. Arms with the rules of their
 * reference show the memories of that.
 */
export const sameMemories: Check = ({ arms, answered }) => {
  const seen = whereOf(answered, MEMORIES, (memories) => memories !== undefined);
  if (seen.length === 0) return undecided('same memories', 'the memories of no prompt were compared');
  const compared = arms.filter(showsAsReference).map(({ name, reference }) => pairsOf(seen, name, reference!));
  // A gate that injects nothing was given nothing.
  const wasGiven = compared.flatMap((pairs) => turnsWhere(pairs, MEMORIES, (own) => own!.given > 0));
  const other = compared
    .flatMap((pairs) => turnsWhere(pairs, MEMORY_IDS, (own, theirs) => !showAlike(own, theirs)))
    .filter(({ observed }) => observed.memories!.given > 0);
  const found = [
    ...FAULTS.map(({ what, of }) => ({ what, turns: whereOf(seen, MEMORIES, (memories) => of(memories!)) })),
    { what: 'show other memories than the arm that they are held against', turns: other },
  ].filter(({ turns }) => turns.length > 0);
  return found.length === 0
    ? decided(
        'same memories',
        true,
        `${seen.length} turns show what they were given, ${wasGiven.length} of them the memories of their reference`,
      )
    : decided(
        'same memories',
        false,
        found.map(({ what, turns }) => `${turns.length} turns ${what}: ${examples(turns)}`).join('; '),
      );
};

/** The same memories, in whichever order. */
function showAlike(a: readonly string[], b: readonly string[]): boolean {
  return isDeepStrictEqual(a, b) || isDeepStrictEqual(a.toSorted(), b.toSorted());
}
