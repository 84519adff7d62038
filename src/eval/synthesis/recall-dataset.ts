import { templates } from '../../config/templates.ts';
import type { WrittenRecord } from '../dataset/schema.ts';
import { SeededRandom } from '../random.ts';
import { drawEvaluationUsers, type EvaluationUser } from './evaluation-users.ts';

const VERSION = 1;

/** The data set `recall-en`: its users, and the text of its file. */
export interface RecallDataset {
  readonly users: readonly EvaluationUser[];
  /** JSON Lines; the same bytes for the same seed and grammar. */
  readonly text: string;
}

/** Makes the English data set of the bench. */
export function makeRecallDataset(seed: number, userCount: number): RecallDataset {
  const users = drawEvaluationUsers(new SeededRandom(seed), userCount);
  const records: WrittenRecord[] = [
    {
      type: 'dataset',
      name: 'recall-en',
      language: 'en',
      version: VERSION,
      seed,
      unknownAnswer: templates.unknownAnswer,
      userKinds: Object.fromEntries(users.map((user) => [user.userId, user.kind])),
    },
    ...users.flatMap((user) => [...user.memories, ...user.items]),
  ];
  return { users, text: records.map((record) => `${JSON.stringify(record)}\n`).join('') };
}
