import { crc32 } from 'node:zlib';
import type { MemorySearchResult } from '../../retrieval/retriever.ts';
import type { DatasetItem, DatasetMemory, DatasetUser } from '../../data/dataset.ts';
import { containsTokens } from '../../data/normalise.ts';
import { SeededRandom } from '../../base/seeded-random.ts';

/** The question for which memories are donated. */
type AnsweredQuestion = Pick<DatasetItem, 'itemId' | 'answer' | 'acceptedAnswers' | 'language'>;

/**
 * The memories of the negative control: for each retrieved memory the text of a seeded donor's memory of the same kind,
 * a preference for a preference, in the language of the user, at the same place and time. None of them holds an answer, or
 * says what a memory of the user says too.
 */
export function donated(
  retrieved: readonly MemorySearchResult[],
  users: readonly DatasetUser[],
  { userId, languageProfile, memories }: Pick<DatasetUser, 'userId' | 'languageProfile' | 'memories'>,
  { itemId, answer, acceptedAnswers, language = languageProfile.language }: AnsweredQuestion,
  seed: number,
): MemorySearchResult[] {
  const random = new SeededRandom((seed ^ crc32(itemId)) | 0);
  const donors = users.filter(
    (user) => user.userId !== userId && user.languageProfile.language === languageProfile.language,
  );
  const golds = answer === null ? [] : [answer, ...acceptedAnswers];
  const answers = ({ content }: DatasetMemory): boolean =>
    golds.some((gold) => containsTokens(content, gold, language));
  const own = new Set(memories.map(({ content }) => content));
  const taken = new Set<DatasetMemory>();
  return retrieved.flatMap((memory) => {
    const preference = memory.metadata['preference'] === true;
    const candidates = donors
      .flatMap((user) => user.memories)
      .filter((one) => one.preference === preference && !taken.has(one) && !own.has(one.content) && !answers(one));
    if (candidates.length === 0) return [];
    const donor = random.pick(candidates);
    taken.add(donor);
    return [
      {
        ...memory,
        memoryId: `donor-${donor.memoryId}`,
        content: donor.content,
        metadata: { ...memory.metadata, value: donor.value, relation: donor.relation },
      },
    ];
  });
}
