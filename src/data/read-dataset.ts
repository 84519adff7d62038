import { basename } from 'node:path';
import { BenchError } from '../base/bench-error.ts';
import { ownValue } from '../base/prototype-safe-records.ts';
import { grammars } from '../base/english-and-chinese-wordings.ts';
import { checkConsistency, requirePassages } from './check-consistency.ts';
import {
  type Dataset,
  type DatasetItem,
  type DatasetMemory,
  type DatasetUser,
  resolveUserLanguage,
  type UserLanguage,
} from './dataset.ts';
import { fileSource, type DatasetSource } from './dataset-source.ts';
import { type DatasetRecords, readRecords } from './read-records.ts';
import { datasetDeclaration } from './record-schemas.ts';
import { byAge } from './visible-memories.ts';

/**
 * Reads a data set in JSON Lines: an optional `dataset` record first, then `memory` and `item` records in any order. No
 * text is used as a path or a command.
 * @throws BenchError `not-found` for a missing file, `bad-data` for the first other problem, naming file, line and field
 *
 * @example
 * ```ts
 * import { readDataset } from 'dki-bench';
 *
 * const { name, users } = await readDataset('datasets/recall-en.jsonl');
 * const questions = users.reduce((sum, { items }) => sum + items.length, 0);
 * console.log(`${name}: ${users.length} users, ${questions} questions`);
 * ```
 */
export async function readDataset(path: string): Promise<Dataset> {
  return readDatasetSource(fileSource(path));
}

/** @param needsPassages every item must list passages @throws BenchError as `readDataset` */
export async function readDatasetSource(source: DatasetSource, needsPassages = false): Promise<Dataset> {
  const refuse = (_rule: string, problem: BenchError): never => {
    throw problem;
  };
  const records = await readRecords(source.place, source.lines, refuse);
  checkConsistency(records, refuse);
  qualifyIds(records);
  const [unanswered] = records.questions;
  if (unanswered !== undefined) {
    const message = `${unanswered.place}: this question has no answer, so only retrieval can be measured`;
    const hint = 'choose a data set with items, or measure retrieval with --suite retrieval --seed N';
    throw new BenchError('bad-data', message, hint);
  }
  if (needsPassages) requirePassages(records.items);
  const header = records.header?.record;
  const { language = 'en', unknownAnswer = grammars.en.unknownAnswer } = header ?? {};
  const brought = source.brought();
  return {
    name: header?.name ?? basename(records.path).replace(/\.jsonl?(?:\.gz)?$/, ''),
    sha256: records.sha256,
    language,
    unknownAnswer,
    declared: datasetDeclaration.parse(header ?? {}),
    ...(brought === undefined ? {} : { brought }),
    users: assembleUsers(records, { language, unknownAnswer }),
    places: new Map(records.items.map(({ record, place }) => [record.itemId, place])),
  };
}

function withoutType<T extends { readonly type: string }>({ type: _, ...rest }: T): Omit<T, 'type'> {
  return rest;
}

/** Puts the user's id before ids that several users have, since a run finds memories, items and conversations by id alone. */
function qualifyIds({ memories, items, questions }: DatasetRecords): void {
  const memoryName = uniqueNames(memories.map(({ record: { userId, memoryId } }) => [userId, memoryId]));
  const itemName = uniqueNames([...items, ...questions].map(({ record: { userId, itemId } }) => [userId, itemId]));
  const conversationName = uniqueNames(
    items.map(({ record: { userId, conversation = '' } }) => [userId, conversation]),
  );
  for (const { record } of memories) {
    const name = (id: string): string => memoryName(record.userId, id);
    record.memoryId = name(record.memoryId);
    if (record.supersedes !== undefined) record.supersedes = name(record.supersedes);
    if (record.links !== undefined) record.links = record.links.map(name);
  }
  for (const { record } of [...items, ...questions]) {
    const name = (id: string): string => memoryName(record.userId, id);
    record.itemId = itemName(record.userId, record.itemId);
    record.evidence = record.evidence.map(name);
    if (!('answer' in record)) continue;
    if (record.passages !== undefined) record.passages = record.passages.map(name);
    if (record.conversation !== undefined) {
      record.conversation = conversationName(record.userId, record.conversation);
    }
  }
}

/** Maps ids to unique names: `ann:m1` if another user has `m1`, too. */
function uniqueNames(ids: readonly (readonly [userId: string, id: string])[]): (userId: string, id: string) => string {
  const users = new Map(
    [...Map.groupBy(ids, ([, id]) => id)].map(([id, all]) => [id, new Set(all.map(([user]) => user))]),
  );
  return (userId, id) => {
    if (users.get(id)!.size === 1) return id;
    let name = `${userId}:${id}`;
    while (users.has(name)) name += '+';
    return name;
  };
}

/** The language that all items name; undefined if they differ or one names none. */
function sharedLanguage(items: readonly DatasetItem[]): DatasetItem['language'] {
  const [language, ...others] = new Set(items.map((item) => item.language));
  return others.length > 0 ? undefined : language;
}

/** @param whole language profile of users for whom the file names no other */
function assembleUsers({ header, memories, items }: DatasetRecords, whole: UserLanguage): DatasetUser[] {
  const users = new Map<string, { memories: DatasetMemory[]; items: DatasetItem[] }>(
    [...memories, ...items].map(({ record }) => [record.userId, { memories: [], items: [] }]),
  );
  for (const { record } of memories) users.get(record.userId)!.memories.push(withoutType(record));
  for (const { record } of items) users.get(record.userId)!.items.push(withoutType(record));
  return [...users].map(([userId, user]) => ({
    userId,
    kind: ownValue(header?.record.userKinds, userId),
    languageProfile: resolveUserLanguage(
      ownValue(header?.record.userLanguages, userId) ?? sharedLanguage(user.items),
      whole,
    ),
    memories: user.memories.sort(byAge),
    items: user.items,
  }));
}
