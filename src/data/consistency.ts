import { BenchError } from '../base/bench-error.ts';
import { didYouMean } from '../base/nearest-name.ts';
import { shownValue } from '../base/shown-value.ts';
import type { Placed } from './parse-record.ts';
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

function byId<T>(
  records: readonly Placed<T>[],
  field: string,
  idOf: (record: T) => string,
  report: Report,
): Map<string, Placed<T>> {
  const found = new Map<string, Placed<T>>();
  for (const placed of records) {
    const id = idOf(placed.record);
    const earlier = found.get(id);
    if (earlier === undefined) {
      found.set(id, placed);
      continue;
    }
    const message = `${placed.place}: ${field} expected an id of its own, got ${shownValue(id)}, which ${earlier.place} has`;
    report('duplicate-id', new BenchError('bad-data', message, 'ids are unique in the whole file'));
  }
  return found;
}

/** Error for an `id` that names no memory of the user. */
function foreignMemory(
  memories: Memories,
  reference: { readonly place: string; readonly field: string; readonly userId: string; readonly id: string },
): BenchError {
  const { place, field, userId, id } = reference;
  const own = [...memories.values()]
    .filter(({ record }) => record.userId === userId)
    .map(({ record }) => record.memoryId);
  const message = `${place}: ${field} expected a memory of user ${userId}, got ${shownValue(id)}${didYouMean(id, own)}`;
  return new BenchError('bad-data', message, 'write the memoryId of a memory record with the same userId');
}

function checkSupersession({ record, place }: Placed<MemoryRecord>, memories: Memories, report: Report): void {
  const { userId, supersedes: id } = record;
  if (id === undefined) return;
  const old = memories.get(id)?.record;
  if (old?.userId !== userId) {
    report('supersedes', foreignMemory(memories, { place, field: 'supersedes', userId, id }));
  } else if (byAge(old, record) >= 0) {
    const message = `${place}: supersedes expected an earlier memory, got ${shownValue(id)}, created ${old.createdAt}`;
    report('supersedes', new BenchError('bad-data', message, 'the later memory supersedes the earlier one'));
  }
}

function checkUpdate({ record: { createdAt, updatedAt }, place }: Placed<MemoryRecord>, report: Report): void {
  if (updatedAt === undefined || Date.parse(updatedAt) >= Date.parse(createdAt)) return;
  const message = `${place}: updatedAt expected a time from createdAt on, got ${shownValue(updatedAt)}, created ${createdAt}`;
  report('updated-before-created', new BenchError('bad-data', message, 'correct one of the two, or leave it out'));
}

function checkLinks({ record, place }: Placed<MemoryRecord>, memories: Memories, report: Report): void {
  const { userId, links = [] } = record;
  for (const id of links) {
    if (memories.get(id)?.record.userId !== userId) {
      report('links', foreignMemory(memories, { place, field: 'links', userId, id }));
    }
  }
}

function checkEvidence(
  { record, place }: Placed<ItemRecord | QuestionRecord>,
  memories: Memories,
  report: Report,
): void {
  const { askedAt, evidence, userId } = record;
  const answer = record.type === 'item' ? record.answer : undefined;
  if (answer === null && evidence.length > 0) {
    const message = `${place}: evidence expected none where answer is null, got ${shownValue(evidence)}`;
    const hint = 'an absent item is one that no memory answers';
    report('absent-with-evidence', new BenchError('bad-data', message, hint));
  }
  for (const id of evidence) {
    const memory = memories.get(id)?.record;
    if (memory?.userId !== userId) {
      report('evidence', foreignMemory(memories, { place, field: 'evidence', userId, id }));
    } else if (Date.parse(memory.createdAt) > Date.parse(askedAt)) {
      const message = `${place}: evidence expected a memory from before askedAt, got ${shownValue(id)}, created ${memory.createdAt}`;
      const hint = 'a question sees only memories that exist when it is asked';
      report('evidence-after-question', new BenchError('bad-data', message, hint));
    }
  }
}

/** Checks the list of a user's own retrieval, which names memories as evidence does. */
function checkPassages({ record, place }: Placed<ItemRecord>, memories: Memories, report: Report): void {
  const { askedAt, passages = [], userId } = record;
  const twice = passages.find((id, index) => passages.indexOf(id) !== index);
  if (twice !== undefined) {
    const message = `${place}: passages expected each memory once, got ${shownValue(twice)} twice`;
    report('passages', new BenchError('bad-data', message, 'list memories from the best to the last'));
  }
  for (const id of passages) {
    const memory = memories.get(id)?.record;
    if (memory?.userId !== userId) {
      report('passages', foreignMemory(memories, { place, field: 'passages', userId, id }));
    } else if (Date.parse(memory.createdAt) > Date.parse(askedAt)) {
      const message = `${place}: passages expected memories from before askedAt, got ${shownValue(id)}, created ${memory.createdAt}`;
      const hint = 'a question sees only memories that exist when it is asked';
      report('passages', new BenchError('bad-data', message, hint));
    }
  }
}

/** @throws BenchError `bad-data` at the first item that lists no passages, with the number of those that list none */
export function requirePassages(items: readonly Placed<ItemRecord>[]): void {
  const without = items.filter(({ record }) => record.passages === undefined);
  const [first] = without;
  if (first === undefined) return;
  const message = `${first.place}: passages expected for --retriever given, got nothing (${without.length} of ${items.length} items list none)`;
  const hint = 'list memoryIds from the best to the last, [] where nothing was found, or choose another --retriever';
  throw new BenchError('bad-data', message, hint);
}

function checkUsers({ header, memories, items, questions }: DatasetRecords, report: Report): void {
  if (header === undefined) return;
  const users = new Set([...memories, ...items, ...questions].map(({ record }) => record.userId));
  for (const field of ['userKinds', 'userLanguages'] as const) {
    for (const userId of Object.keys(header.record[field] ?? {})) {
      if (users.has(userId)) continue;
      const message = `${header.place}: ${field} expected users of this file, got ${shownValue(userId)}${didYouMean(userId, users)}`;
      report('header', new BenchError('bad-data', message, 'name only users that have a memory or an item'));
    }
  }
}

/**
 * Checks the records of a file against one another. Reports duplicate ids, evidence or `supersedes` that names no earlier
 * memory of the same user, links to none of them, memories updated before they were created, evidence of absent items, passages that are no memories of the user, kinds and languages of
 * unknown users, questions without answers among items, and a file without items.
 */
export function checkConsistency(records: DatasetRecords, report: Report): void {
  const memories = byId(records.memories, 'memoryId', (record) => record.memoryId, report);
  const asked = [...records.items, ...records.questions];
  byId<ItemRecord | QuestionRecord>(asked, 'itemId', (record) => record.itemId, report);
  for (const memory of memories.values()) {
    checkSupersession(memory, memories, report);
    checkUpdate(memory, report);
    checkLinks(memory, memories, report);
  }
  for (const one of asked) checkEvidence(one, memories, report);
  for (const item of records.items) checkPassages(item, memories, report);
  checkUsers(records, report);
  const [first] = records.questions;
  if (first !== undefined && records.items.length > 0) {
    const message = `${first.place}: type expected item, as in the rest of the file, got "question"`;
    const hint = 'put questions without answers into a file of their own';
    report('schema', new BenchError('bad-data', message, hint));
  }
  if (asked.length > 0) return;
  const hint = 'add records with "type":"item"';
  report('schema', new BenchError('bad-data', `${records.path}: has no items`, hint));
}
