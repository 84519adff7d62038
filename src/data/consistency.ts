import { BenchError } from '../base/bench-error.ts';
import { didYouMean } from '../base/nearest-name.ts';
import { shownValue } from '../base/shown-value.ts';
import { expected, type Placed } from './parse-record.ts';
import type { DatasetRecords, Report } from './records.ts';
import type { ItemRecord, MemoryRecord, QuestionRecord } from './schema.ts';

type Memories = ReadonlyMap<string, Placed<MemoryRecord>>;

/** Orders memories by creation, then by id. */
export function byAge(
  a: Pick<MemoryRecord, 'createdAt' | 'memoryId'>,
  b: Pick<MemoryRecord, 'createdAt' | 'memoryId'>,
): number {
  return Date.parse(a.createdAt) - Date.parse(b.createdAt) || (a.memoryId < b.memoryId ? -1 : 1);
}

/** The first record of each id; others are reported. */
function byId<Field extends string, T extends Readonly<Record<Field, string>>>(
  records: readonly Placed<T>[],
  field: Field,
  report: Report,
): Map<string, Placed<T>> {
  const found = new Map<string, Placed<T>>();
  for (const placed of records) {
    const id = placed.record[field];
    const first = found.get(id);
    if (first === undefined) found.set(id, placed);
    else {
      const got = `${shownValue(id)}, which ${first.place} has`;
      const hint = 'ids are unique in the whole file';
      report('duplicate-id', expected(`${placed.place}: ${field}`, 'an id of its own', got, hint));
    }
  }
  return found;
}

/** Error for an `id` that names no memory of the user. @param at place and field */
function foreignMemory(memories: Memories, at: string, userId: string, id: string): BenchError {
  const own = [...memories.values()].flatMap(({ record }) => (record.userId === userId ? record.memoryId : []));
  const hint = 'write the memoryId of a memory record with the same userId';
  return expected(at, `a memory of user ${userId}`, shownValue(id) + didYouMean(id, own), hint);
}

function checkMemory({ record, place }: Placed<MemoryRecord>, memories: Memories, report: Report): void {
  const { userId, createdAt, updatedAt, supersedes, links = [] } = record;
  const old = supersedes === undefined ? undefined : memories.get(supersedes)?.record;
  if (supersedes !== undefined && old?.userId !== userId) {
    report('supersedes', foreignMemory(memories, `${place}: supersedes`, userId, supersedes));
  } else if (old !== undefined && byAge(old, record) >= 0) {
    const got = `${shownValue(supersedes)}, created ${old.createdAt}`;
    const hint = 'the later memory supersedes the earlier one';
    report('supersedes', expected(`${place}: supersedes`, 'an earlier memory', got, hint));
  }
  if (updatedAt !== undefined && Date.parse(updatedAt) < Date.parse(createdAt)) {
    const got = `${shownValue(updatedAt)}, created ${createdAt}`;
    const hint = 'correct one of the two, or leave it out';
    report('updated-before-created', expected(`${place}: updatedAt`, 'a time from createdAt on', got, hint));
  }
  for (const id of links) {
    if (memories.get(id)?.record.userId === userId) continue;
    report('links', foreignMemory(memories, `${place}: links`, userId, id));
  }
}

function checkItem({ record, place }: Placed<ItemRecord | QuestionRecord>, memories: Memories, report: Report): void {
  const { askedAt, evidence, userId } = record;
  const [answer, passages = []] = record.type === 'item' ? [record.answer, record.passages] : [undefined];
  if (answer === null && evidence.length > 0) {
    const hint = 'an absent item is one that no memory answers';
    const error = expected(`${place}: evidence`, 'none where answer is null', shownValue(evidence), hint);
    report('absent-with-evidence', error);
  }
  const twice = passages.find((id, index) => passages.indexOf(id) !== index);
  if (twice !== undefined) {
    const hint = 'list memories from the best to the last';
    report('passages', expected(`${place}: passages`, 'each memory once', `${shownValue(twice)} twice`, hint));
  }
  for (const [field, ids] of [['evidence', evidence] as const, ['passages', passages] as const]) {
    for (const id of ids) {
      const memory = memories.get(id)?.record;
      if (memory?.userId !== userId) {
        report(field, foreignMemory(memories, `${place}: ${field}`, userId, id));
      } else if (Date.parse(memory.createdAt) > Date.parse(askedAt)) {
        const got = `${shownValue(id)}, created ${memory.createdAt}`;
        const hint = 'a question sees only memories that exist when it is asked';
        const error = expected(`${place}: ${field}`, 'a memory from before askedAt', got, hint);
        report(field === 'evidence' ? 'evidence-after-question' : field, error);
      }
    }
  }
}

/** @throws BenchError `bad-data` at the first item that lists no passages, with the number of those that list none */
export function requirePassages(items: readonly Placed<ItemRecord>[]): void {
  const without = items.filter(({ record }) => record.passages === undefined);
  const [first] = without;
  if (first === undefined) return;
  const got = `nothing (${without.length} of ${items.length} items list none)`;
  const hint = 'list memoryIds from the best to the last, [] where nothing was found, or choose another --retriever';
  throw expected(`${first.place}: passages`, 'for --retriever given', got, hint);
}

function checkUsers({ header, memories, items, questions }: DatasetRecords, report: Report): void {
  if (header === undefined) return;
  const users = new Set([...memories, ...items, ...questions].map(({ record }) => record.userId));
  for (const field of ['userKinds', 'userLanguages'] as const) {
    for (const userId of Object.keys(header.record[field] ?? {})) {
      if (users.has(userId)) continue;
      const got = shownValue(userId) + didYouMean(userId, users);
      const hint = 'name only users that have a memory or an item';
      report('header', expected(`${header.place}: ${field}`, 'users of this file', got, hint));
    }
  }
}

/** Checks the records of a file against one another: ids, references, times, users, and that it has items. */
export function checkConsistency(records: DatasetRecords, report: Report): void {
  const memories = byId(records.memories, 'memoryId', report);
  const asked: readonly Placed<ItemRecord | QuestionRecord>[] = [...records.items, ...records.questions];
  byId(asked, 'itemId', report);
  for (const memory of memories.values()) checkMemory(memory, memories, report);
  for (const item of asked) checkItem(item, memories, report);
  checkUsers(records, report);
  const [first] = records.questions;
  if (first !== undefined && records.items.length > 0) {
    const hint = 'put questions without answers into a file of their own';
    report('schema', expected(`${first.place}: type`, 'item, as in the rest of the file', '"question"', hint));
  }
  if (asked.length > 0) return;
  report('schema', new BenchError('bad-data', `${records.path}: has no items`, 'add records with "type":"item"'));
}
