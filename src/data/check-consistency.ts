import { BenchError, didYouMean, formatValue } from '../base/bench-error.ts';
import type { DatasetRecords, Placed, Report } from './read-records.ts';
import type { ItemRecord, MemoryRecord, QuestionRecord } from './record-schemas.ts';
import { byAge } from './visible-memories.ts';
import { mismatch } from './check-schema.ts';

/** Key of an id among all users, since ids are unique only within a user. */
export function scopedId(userId: string, id: string): string {
  return JSON.stringify([userId, id]);
}

/** Error for an id that an earlier record of the user has. @param first place of that record */
export function duplicateId(at: string, id: string, first: string): BenchError {
  return mismatch(at, 'a unique id', `${formatValue(id)}, as in ${first}`, 'an id may occur only once per user');
}

/** First record of each id, by `scopedId`; repeated ids are reported. */
function byId<Field extends string, T extends Readonly<Record<Field | 'userId', string>>>(
  records: readonly Placed<T>[],
  field: Field,
  report: Report,
): Map<string, Placed<T>> {
  const found = new Map<string, Placed<T>>();
  for (const placed of records) {
    const id = placed.record[field];
    const key = scopedId(placed.record.userId, id);
    const first = found.get(key);
    if (first === undefined) found.set(key, placed);
    else report('duplicate-id', duplicateId(`${placed.place}: ${field}`, id, first.place));
  }
  return found;
}

/** Checks of the memories that a record names, and of the order of times. @param memories by `scopedId` */
export function referenceChecks(memories: ReadonlyMap<string, Placed<MemoryRecord>>, report: Report) {
  /** Resolves the ids that a field names; ids of no memory of the user are reported. */
  function named(
    { record: { userId }, place }: Placed<{ readonly userId: string }>,
    field: 'supersedes' | 'links' | 'evidence' | 'passages',
    ids: string | readonly string[] = [],
  ): MemoryRecord[] {
    return [ids].flat().flatMap((id) => {
      const found = memories.get(scopedId(userId, id))?.record;
      if (found !== undefined) return found;
      const own = [...memories.values()].flatMap(({ record }) => (record.userId === userId ? record.memoryId : []));
      const hint = 'write the memoryId of a memory record with the same userId';
      const got = formatValue(id) + didYouMean(id, own);
      report(field, mismatch(`${place}: ${field}`, `a memory of user ${userId}`, got, hint));
      return [];
    });
  }

  function checkTimes(
    placed: Placed<ItemRecord | QuestionRecord>,
    field: 'evidence' | 'passages',
    ids: string[],
  ): void {
    const askedMs = Date.parse(placed.record.askedAt);
    for (const { memoryId, createdAt } of named(placed, field, ids)) {
      if (Date.parse(createdAt) <= askedMs) continue;
      const got = `${formatValue(memoryId)}, created ${createdAt}`;
      const hint = 'a question sees only memories that exist when it is asked';
      const error = mismatch(`${placed.place}: ${field}`, 'a memory created before askedAt', got, hint);
      report(field === 'evidence' ? 'evidence-after-question' : field, error);
    }
  }

  function checkMemory(placed: Placed<MemoryRecord>): void {
    const { record, place } = placed;
    const { createdAt, updatedAt, supersedes, links } = record;
    for (const old of named(placed, 'supersedes', supersedes)) {
      if (byAge(old, record) < 0) continue;
      const got = `${formatValue(supersedes)}, created ${old.createdAt}`;
      const hint = 'only a later memory can supersede an earlier one';
      report('supersedes', mismatch(`${place}: supersedes`, 'an earlier memory', got, hint));
    }
    if (updatedAt !== undefined && Date.parse(updatedAt) < Date.parse(createdAt)) {
      const got = `${formatValue(updatedAt)}, created ${createdAt}`;
      const hint = 'correct one of the two, or leave out updatedAt';
      report('updated-before-created', mismatch(`${place}: updatedAt`, 'a time not before createdAt', got, hint));
    }
    named(placed, 'links', links);
  }

  function checkQuestion(placed: Placed<ItemRecord | QuestionRecord>): void {
    const { record, place } = placed;
    checkTimes(placed, 'evidence', record.evidence);
    if (record.type === 'question') return;
    const { answer, evidence, passages = [] } = record;
    if (answer === null && evidence.length > 0) {
      const hint = 'an absent item is one that no memory answers';
      const error = mismatch(`${place}: evidence`, 'none where answer is null', formatValue(evidence), hint);
      report('absent-with-evidence', error);
    }
    const twice = passages.find((id, index) => passages.indexOf(id) !== index);
    if (twice !== undefined) {
      const hint = 'list each memory once, the best first';
      report('passages', mismatch(`${place}: passages`, 'each memory once', `${formatValue(twice)} twice`, hint));
    }
    checkTimes(placed, 'passages', passages);
  }

  return { checkMemory, checkQuestion };
}

/**
 * Checks that all items list passages, for retriever `given`.
 * @throws BenchError `bad-data` naming the first without
 */
export function requirePassages(items: readonly Placed<ItemRecord>[]): void {
  const without = items.filter(({ record }) => record.passages === undefined);
  const [first] = without;
  if (first === undefined) return;
  const got = `nothing (${without.length} of ${items.length} items list none)`;
  const hint = 'list memoryIds, the best first ([] if none was found), or choose another --retriever';
  throw mismatch(`${first.place}: passages`, 'for --retriever given', got, hint);
}

function checkUsers({ header, memories, items, questions }: DatasetRecords, report: Report): void {
  if (header === undefined) return;
  const users = new Set([...memories, ...items, ...questions].map(({ record }) => record.userId));
  for (const field of ['userKinds', 'userLanguages'] as const) {
    for (const userId of Object.keys(header.record[field] ?? {})) {
      if (users.has(userId)) continue;
      const got = formatValue(userId) + didYouMean(userId, users);
      const hint = 'name only users that have a memory or an item';
      report('header', mismatch(`${header.place}: ${field}`, 'users of this file', got, hint));
    }
  }
}

function checkContrast({ header, items }: DatasetRecords, report: Report): void {
  const categories = new Set(items.map(({ record }) => record.category));
  for (const category of header?.record.plannedContrast?.categories ?? []) {
    if (categories.has(category)) continue;
    const got = formatValue(category) + didYouMean(category, categories);
    const hint = 'plan a contrast of two categories that items have';
    report('header', mismatch(`${header!.place}: plannedContrast.categories`, 'categories of this file', got, hint));
  }
}

/** Checks the records of a file against one another: ids, references, times, users, and that there are items. */
export function checkConsistency(records: DatasetRecords, report: Report): void {
  const memories = byId(records.memories, 'memoryId', report);
  const all: readonly Placed<ItemRecord | QuestionRecord>[] = [...records.items, ...records.questions];
  byId(all, 'itemId', report);
  const { checkMemory, checkQuestion } = referenceChecks(memories, report);
  for (const memory of memories.values()) checkMemory(memory);
  for (const item of all) checkQuestion(item);
  checkUsers(records, report);
  checkContrast(records, report);
  const [first] = records.questions;
  if (first !== undefined && records.items.length > 0) {
    const hint = 'put questions without answers into a separate file';
    report('schema', mismatch(`${first.place}: type`, 'item, as in the rest of the file', '"question"', hint));
  }
  if (all.length > 0) return;
  report('schema', new BenchError('bad-data', `${records.path}: has no items`, 'add records with "type":"item"'));
}
