import { crc32 } from 'node:zlib';
import type { Language } from '../../../base/language.ts';
import { SeededRandom } from '../../../base/seeded-random.ts';
import { shippedDatasets } from '../../../config/shipped-datasets.ts';
import type { DatasetItem, DatasetMemory, DatasetUser } from '../../../data/dataset.ts';
import { holdsWords } from '../../../data/split-words.ts';
import { readDataset } from '../../../data/read-dataset.ts';
import type { MemorySearchResult } from '../../../retrieval/retriever.ts';

/** Replaces retrieved memories by other users' of the same kind. None answers the question or repeats one of the user. */
export function controlMemories(
  retrieved: readonly MemorySearchResult[],
  { userId, languageProfile, memories }: Pick<DatasetUser, 'userId' | 'languageProfile' | 'memories'>,
  item: Pick<DatasetItem, 'itemId' | 'answer' | 'acceptedAnswers' | 'language'>,
  { users, seed }: { readonly users: readonly DatasetUser[]; readonly seed: number },
): MemorySearchResult[] {
  const { itemId, answer, acceptedAnswers, language = languageProfile.language } = item;
  const random = new SeededRandom((seed ^ crc32(itemId)) | 0);
  const golds = answer === null ? [] : [answer, ...acceptedAnswers];
  const own = new Set(memories.map(({ content }) => content));
  const candidates = users
    .filter((user) => user.userId !== userId && user.languageProfile.language === languageProfile.language)
    .flatMap((user) => user.memories)
    .filter(({ content }) => !own.has(content) && !golds.some((gold) => holdsWords(content, gold, language)));
  const taken = new Set<DatasetMemory>();
  return retrieved.flatMap((memory) => {
    const preference = memory.metadata['preference'] === true;
    const free = candidates.filter((one) => one.preference === preference && !taken.has(one));
    if (free.length === 0) return [];
    const other = random.pick(free);
    taken.add(other);
    const metadata = { ...memory.metadata, value: other.value, relation: other.relation };
    return [{ ...memory, memoryId: `donor-${other.memoryId}`, content: other.content, metadata }];
  });
}

/** Users whose memories the control may show: the run's, and bundled ones for a language with a single user. */
export async function controlUsers(users: readonly DatasetUser[]): Promise<readonly DatasetUser[]> {
  const speakers = Map.groupBy(users, ({ languageProfile }): Language => languageProfile.language);
  const alone = [...speakers].filter(([, own]) => own.length === 1).map(([language]) => language);
  const bundled = shippedDatasets();
  const files = alone.flatMap((language) => bundled.get(`recall-${language}`) ?? []);
  const others = await Promise.all(files.map((file) => readDataset(file)));
  return [...users, ...others.flatMap((dataset) => dataset.users)];
}
