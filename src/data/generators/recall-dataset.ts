import { grammars, type Grammar } from '../../base/grammar.ts';
import type { WrittenRecord } from '../schema.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { drawEvaluationUsers, type EvaluationUser } from './evaluation-users.ts';
import { jsonLines } from './wording.ts';

const VERSION = 2;
/** Prefixes of users' ids, different by language, so that one run can ask both data sets. */
const userPrefixes = { en: 'u', zh: 'z' } as const;

/** The data set `recall-en` or `recall-zh`: its users, and the text of its file. */
export interface RecallDataset {
  readonly users: readonly EvaluationUser[];
  /** JSON Lines; the same seed and grammar give the same bytes. */
  readonly text: string;
}

/** Generates the bench's own data set of one language. */
export function makeRecallDataset(language: Grammar['language'], seed: number, userCount: number): RecallDataset {
  const grammar = grammars[language];
  const users = drawEvaluationUsers(SeededRandom.ofPublished(seed), grammar, {
    count: userCount,
    prefix: userPrefixes[language],
  });
  const records: WrittenRecord[] = [
    {
      type: 'dataset',
      name: `recall-${language}`,
      language,
      version: VERSION,
      seed,
      unknownAnswer: grammar.unknownAnswer,
      userKinds: Object.fromEntries(users.map((user) => [user.userId, user.kind])),
    },
    ...users.flatMap((user) => [...user.memories, ...user.items]),
  ];
  return { users, text: jsonLines(records) };
}
