import { grammars, type Grammar } from '../../base/grammar.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import type { DatasetGenerator, ContextWindow } from './dataset-generator.ts';
import { growingDataset, GrowingUser } from './growing-user.ts';
import { ordinal } from './wording.ts';

/** Inputs for growing one user. */
export interface GrowthScope {
  readonly random: SeededRandom;
  readonly grammar: Grammar;
  /** Index of the user in the data set. */
  readonly index: number;
  readonly window: ContextWindow;
}

/** Definition of a suite whose users grow. */
interface GrowingSuite {
  readonly suite: string;
  /** First letter of the users' ids; for Chinese a `z` follows. */
  readonly letter: string;
  readonly presetUsers?: number;
  /** Adds memories and questions to one user. */
  readonly grow: (user: GrowingUser, scope: GrowthScope) => Promise<void> | void;
}

const PRESET_USERS = 8;
const marks = { en: '', zh: 'z' } as const;

/** Generators of the data sets of a suite, `SUITE-LANGUAGE` for each language. */
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
    make: async (seed, count, window) => {
      const random = new SeededRandom(seed);
      const users: GrowingUser[] = [];
      for (let index = 0; index < count; index++) {
        const id = `${letter}${marks[grammar.language]}${ordinal(index)}`;
        const user = new GrowingUser(random, grammar, id);
        await grow(user, { random, grammar, index, window });
        users.push(user);
      }
      return growingDataset(suite, grammar, seed, users);
    },
  }));
}
