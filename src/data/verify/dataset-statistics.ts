import type { Language } from '../../base/language.ts';
import { scopedId } from '../check-consistency.ts';
import { holdsWords } from '../split-words.ts';
import type { DatasetRecords } from '../read-records.ts';

export type Spread = ReturnType<typeof spread>;

export type DatasetStatistics = ReturnType<typeof datasetStatistics>;

function spread(counts: readonly number[]) {
  const sorted = [...counts].sort((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? 0;
  const middle = (sorted.length - 1) / 2;
  return { least: at(0), median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2, most: at(sorted.length - 1) };
}

/** Counts labels; `names` are listed even if their count is 0. */
function countLabels(labels: readonly string[], names: Iterable<string> = []): Record<string, number> {
  const counts = new Map(Array.from(names, (name) => [name, 0]));
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function datasetStatistics({ header, memories, items, questions }: DatasetRecords, language: Language) {
  const memoryRecords = memories.map(({ record }) => record);
  const itemRecords = items.map(({ record }) => record);
  const unanswered = questions.map(({ record }) => record);
  const all = [...itemRecords, ...unanswered];
  const users = new Set([...memoryRecords, ...all].map(({ userId }) => userId));
  const spreadByUser = (records: readonly { readonly userId: string }[]): Spread =>
    spread(
      Object.values(
        countLabels(
          records.map((record) => record.userId),
          users,
        ),
      ),
    );
  const contents = new Map(memoryRecords.map(({ userId, memoryId, content }) => [scopedId(userId, memoryId), content]));
  const answerable = itemRecords.filter(({ answer }) => answer !== null);
  const withEvidence = answerable.filter(({ evidence }) => evidence.length > 0);
  const evident = withEvidence.filter(({ userId, answer, acceptedAnswers, evidence }) => {
    const text = evidence.map((id) => contents.get(scopedId(userId, id)) ?? '').join('\n');
    return [answer!, ...acceptedAnswers].some((gold) => holdsWords(text, gold, language));
  });
  return {
    users: users.size,
    memories: memories.length,
    items: items.length,
    answerable: answerable.length,
    absent: items.length - answerable.length,
    /** Questions without answers, for measuring retrieval; not among the items. */
    questions: questions.length,
    withHistory: itemRecords.filter(({ history }) => history.length > 0).length,
    preferences: memoryRecords.filter(({ preference }) => preference).length,
    superseding: memoryRecords.filter(({ supersedes }) => supersedes !== undefined).length,
    memoriesAUser: spreadByUser(memoryRecords),
    itemsAUser: spreadByUser(all),
    memoryCharacters: spread(memoryRecords.map(({ content }) => [...content].length)),
    evidenceAnItem: spread([...answerable, ...unanswered].map(({ evidence }) => evidence.length)),
    /** How many of the answerable items with evidence have an answer that occurs in it, word by word. */
    answersInEvidence: { items: evident.length, of: withEvidence.length },
    categories: countLabels(all.map(({ category }) => category)),
    phrasings: countLabels(itemRecords.flatMap(({ phrasing }) => phrasing ?? [])),
    userKinds: countLabels(Object.values(header?.record.userKinds ?? {})),
  };
}
