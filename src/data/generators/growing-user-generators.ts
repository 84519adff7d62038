import { type Grammar, grammars } from '../../base/english-and-chinese-wordings.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import type { ContextWindow, DatasetGenerator } from './dataset-generator.ts';
import { datasetText, ordinal } from './format-generated-records.ts';
import { GrowingUser } from './growing-user.ts';

const VERSION = 2;
const PRESET_USERS = 8;

const languageMarks = { en: '', zh: 'z' } as const;

/** What `grow` can use. */
export interface GrowthScope {
  readonly random: SeededRandom;
  readonly grammar: Grammar;
  readonly index: number;
  readonly window: ContextWindow;
}

interface GrowingSuite {
  readonly suite: string;
  readonly letter: string;
  readonly presetUsers?: number;
  readonly grow: (user: GrowingUser, scope: GrowthScope) => Promise<void> | void;
}

/** Makes the generators of a suite, one per language; `grow` gives each user memories and questions. */
export function growingUserGenerators({
  suite,
  letter,
  presetUsers = PRESET_USERS,
  grow,
}: GrowingSuite): DatasetGenerator[] {
  return Object.values(grammars).map((grammar) => {
    const { language } = grammar;
    const name = `${suite}-${language}`;
    const make: DatasetGenerator['make'] = async (seed, count, window) => {
      const random = new SeededRandom(seed);
      const users: GrowingUser[] = [];
      for (let index = 0; index < count; index++) {
        const user = new GrowingUser(random, grammar, `${letter}${languageMarks[language]}${ordinal(index)}`);
        await grow(user, { random, grammar, index, window });
        users.push(user);
      }
      const records = users.flatMap(({ memories, items }) => [...memories, ...items]);
      return datasetText({ name, language, version: VERSION, seed }, records);
    };
    return { name, suites: [suite], language, presetUsers, make };
  });
}
