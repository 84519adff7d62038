import { grammars, type Grammar } from '../../config/grammar.ts';
import { SeededRandom } from '../random.ts';
import type { DatasetGenerator, ModelRoom } from './dataset-generator.ts';
import { growingDataset, GrowingUser } from './growing-user.ts';

/** Where a user grows. */
export interface GrowthScope {
  readonly random: SeededRandom;
  readonly grammar: Grammar;
  /** Of the user among those of the data set. */
  readonly index: number;
  readonly room: ModelRoom;
}

/** What a suite makes of growing users. */
interface GrowingSuite {
  readonly suite: string;
  /** What ids of users begin with; those of a further language have its last letter besides. */
  readonly letter: string;
  readonly presetUsers?: number;
  /** Lets one user remember and asks for it. */
  readonly grow: (user: GrowingUser, scope: GrowthScope) => void;
}

const PRESET_USERS = 8;
const marks = { en: '', zh: 'z' } as const;

/** The data of a suite, `SUITE-LANGUAGE` for each language. */
export function growingData({
  suite,
  letter,
  presetUsers = PRESET_USERS,
  grow,
}: GrowingSuite): readonly DatasetGenerator[] {
  return Object.values(grammars).map((grammar) => ({
    name: `${suite}-${grammar.language}`,
    suites: [suite],
    language: grammar.language,
    presetUsers,
    make: (seed, count, room) => {
      const random = new SeededRandom(seed);
      const users = Array.from({ length: count }, (_, index) => {
        const id = `${letter}${marks[grammar.language]}${String(index + 1).padStart(2, '0')}`;
        const user = new GrowingUser(random, grammar, id);
        grow(user, { random, grammar, index, room });
        return user;
      });
      return growingDataset(suite, grammar, seed, users);
    },
  }));
}
