import { SeededRandom } from '../../base/seeded-random.ts';
import type { WrittenRecord } from '../record-schemas.ts';
import type { DatasetGenerator } from './dataset-generator.ts';
import { drawRetrievalUsers, type RetrievalUser } from './retrieval-users.ts';
import { datasetText } from './format-generated-records.ts';

const VERSION = 1;
const USERS = 30;

export const RETRIEVAL_MEMORIES = 160;

export function retrievalUsers(seed: number, users = USERS): RetrievalUser[] {
  return drawRetrievalUsers(new SeededRandom(seed), { users, memories: RETRIEVAL_MEMORIES });
}

function writeRecords({ userId, memories, questions }: RetrievalUser): WrittenRecord[] {
  return [
    ...memories.map(({ memoryId, content, metadata }): WrittenRecord => {
      const { createdAt, preference, section, memory_type: memoryType, reinforcement } = metadata;
      const about = { createdAt, preference, section, memoryType, reinforcement };
      return { type: 'memory', userId, memoryId, content, ...about };
    }),
    ...questions.map(({ questionId: itemId, kind: category, query, evidence, askedAt }): WrittenRecord => {
      return { type: 'question', itemId, userId, query, evidence: [...evidence], category, askedAt };
    }),
  ];
}

export const retrievalData: DatasetGenerator = {
  name: 'retrieval',
  suites: ['retrieval'],
  language: 'en',
  presetUsers: USERS,
  make: async (seed, users) => {
    const records = retrievalUsers(seed, users).flatMap(writeRecords);
    return datasetText({ name: 'retrieval', language: 'en', version: VERSION, seed }, records);
  },
};
