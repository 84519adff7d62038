import type { Language } from '../../base/language.ts';
import { containsTokens } from '../normalise.ts';
import type { DatasetRecords } from '../records.ts';
import type { ItemRecord } from '../schema.ts';

/** Minimum, median and maximum of a count. */
export interface Spread {
  readonly least: number;
  readonly median: number;
  readonly most: number;
}

/** Counts over the records of a data set. */
export interface DatasetStatistics {
  readonly users: number;
  readonly memories: number;
  readonly items: number;
  readonly answerable: number;
  readonly absent: number;
  /** Questions without answers, for measuring retrieval; not among the items. */
  readonly questions: number;
  readonly withHistory: number;
  readonly preferences: number;
  readonly superseding: number;
  readonly memoriesAUser: Spread;
  readonly itemsAUser: Spread;
  readonly memoryCharacters: Spread;
  readonly evidenceAnItem: Spread;
  /** Answerable items with evidence: how many have an answer that occurs in the evidence, token by token. */
  readonly answersInEvidence: { readonly items: number; readonly of: number };
  readonly categories: Readonly<Record<string, number>>;
  readonly phrasings: Readonly<Record<string, number>>;
  readonly userKinds: Readonly<Record<string, number>>;
}

function spreadOf(counts: Iterable<number>): Spread {
  const sorted = Float64Array.from(counts).sort();
  const at = (index: number): number => sorted[index] ?? 0;
  const last = sorted.length - 1;
  const median = sorted.length === 0 ? 0 : (at(Math.floor(last / 2)) + at(Math.ceil(last / 2))) / 2;
  return { least: at(0), median, most: at(last) };
}

function countsOf(labels: Iterable<string>): Record<string, number> {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Counts the records of each user. */
function byUser(
  users: Iterable<string>,
  records: Iterable<{ readonly record: { readonly userId: string } }>,
): number[] {
  const counts = new Map(Array.from(users, (userId) => [userId, 0]));
  for (const { record } of records) counts.set(record.userId, counts.get(record.userId)! + 1);
  return [...counts.values()];
}

function evidenceHoldsAnswer(item: ItemRecord, contents: ReadonlyMap<string, string>, language: Language): boolean {
  const text = item.evidence.map((id) => contents.get(id) ?? '').join('\n');
  return [item.answer!, ...item.acceptedAnswers].some((gold) => containsTokens(text, gold, language));
}

/** Computes the statistics of a data set. */
export function datasetStatistics(
  { header, memories, items, questions }: DatasetRecords,
  language: Language,
): DatasetStatistics {
  const asked = [...items, ...questions];
  const users = new Set([...memories, ...asked].map(({ record }) => record.userId));
  const contents = new Map(memories.map(({ record }) => [record.memoryId, record.content]));
  const answerable = items.filter(({ record }) => record.answer !== null);
  const supported = answerable.filter(({ record }) => record.evidence.length > 0);
  return {
    users: users.size,
    memories: memories.length,
    items: items.length,
    answerable: answerable.length,
    absent: items.length - answerable.length,
    questions: questions.length,
    withHistory: items.filter(({ record }) => record.history.length > 0).length,
    preferences: memories.filter(({ record }) => record.preference).length,
    superseding: memories.filter(({ record }) => record.supersedes !== undefined).length,
    memoriesAUser: spreadOf(byUser(users, memories)),
    itemsAUser: spreadOf(byUser(users, asked)),
    memoryCharacters: spreadOf(memories.map(({ record }) => [...record.content].length)),
    evidenceAnItem: spreadOf([...answerable, ...questions].map(({ record }) => record.evidence.length)),
    answersInEvidence: {
      items: supported.filter(({ record }) => evidenceHoldsAnswer(record, contents, language)).length,
      of: supported.length,
    },
    categories: countsOf(asked.map(({ record }) => record.category)),
    phrasings: countsOf(items.flatMap(({ record }) => record.phrasing ?? [])),
    userKinds: countsOf(Object.values(header?.record.userKinds ?? {})),
  };
}
