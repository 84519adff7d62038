import { BenchError } from '../../config/bench-error.ts';
import { didYouMean } from '../../config/nearest-name.ts';
import type { DatasetItem, DatasetMemory, DatasetUser, UserKind } from './dataset.ts';
import { shown, type Placed } from './parse-record.ts';
import type { ItemRecord, MemoryRecord } from './schema.ts';

function byAge(a: DatasetMemory, b: DatasetMemory): number {
  return Date.parse(a.createdAt) - Date.parse(b.createdAt) || (a.memoryId < b.memoryId ? -1 : 1);
}

function unique<T>(records: readonly Placed<T>[], field: string, idOf: (record: T) => string): Map<string, Placed<T>> {
  const found = new Map<string, Placed<T>>();
  for (const placed of records) {
    const id = idOf(placed.record);
    const earlier = found.get(id);
    if (earlier !== undefined) {
      const message = `${placed.place}: ${field} expected an id of its own, got ${shown(id)}, which ${earlier.place} has`;
      throw new BenchError('bad-data', message, 'ids are unique in the whole file');
    }
    found.set(id, placed);
  }
  return found;
}

function withoutType<T extends { readonly type: string }>({ type: _, ...rest }: T): Omit<T, 'type'> {
  return rest;
}

/** Checks that `id` names a memory of the user. */
function memoryOf(
  memories: ReadonlyMap<string, Placed<MemoryRecord>>,
  reference: { readonly place: string; readonly field: string; readonly userId: string; readonly id: string },
): MemoryRecord {
  const { place, field, userId, id } = reference;
  const found = memories.get(id)?.record;
  if (found?.userId === userId) return found;
  const own = [...memories.values()]
    .filter(({ record }) => record.userId === userId)
    .map(({ record }) => record.memoryId);
  const message = `${place}: ${field} expected a memory of user ${userId}, got ${shown(id)}${didYouMean(id, own)}`;
  throw new BenchError('bad-data', message, 'write the memoryId of a memory record with the same userId');
}

function checkSupersession(memories: ReadonlyMap<string, Placed<MemoryRecord>>): void {
  for (const { record, place } of memories.values()) {
    if (record.supersedes === undefined) continue;
    const { userId, supersedes: id } = record;
    const old = memoryOf(memories, { place, field: 'supersedes', userId, id });
    if (byAge(old, record) < 0) continue;
    const message = `${place}: supersedes expected an earlier memory, got ${shown(id)}, created ${old.createdAt}`;
    throw new BenchError('bad-data', message, 'the later memory supersedes the earlier one');
  }
}

function checkEvidence(item: Placed<ItemRecord>, memories: ReadonlyMap<string, Placed<MemoryRecord>>): void {
  const { record, place } = item;
  if (record.answer === null && record.evidence.length > 0) {
    const message = `${place}: evidence expected none where answer is null, got ${shown(record.evidence)}`;
    throw new BenchError('bad-data', message, 'an absent item is one that no memory answers');
  }
  for (const id of record.evidence) {
    const memory = memoryOf(memories, { place, field: 'evidence', userId: record.userId, id });
    if (Date.parse(memory.createdAt) <= Date.parse(record.askedAt)) continue;
    const message = `${place}: evidence expected a memory from before askedAt, got ${shown(id)}, created ${memory.createdAt}`;
    throw new BenchError('bad-data', message, 'a question sees only memories that exist when it is asked');
  }
}

/**
 * Puts the records of a file together by user, in the order in which users first appear.
 * @throws BenchError `bad-data` on an id that stands twice, or evidence or `supersedes` that names no earlier memory of
 * the same user
 */
export function assembleUsers(
  memoryRecords: readonly Placed<MemoryRecord>[],
  itemRecords: readonly Placed<ItemRecord>[],
  kinds: Readonly<Record<string, UserKind>>,
): DatasetUser[] {
  const memories = unique(memoryRecords, 'memoryId', (record) => record.memoryId);
  const items = unique(itemRecords, 'itemId', (record) => record.itemId);
  checkSupersession(memories);
  const users = new Map<string, { memories: DatasetMemory[]; items: DatasetItem[] }>();
  const of = (userId: string): { memories: DatasetMemory[]; items: DatasetItem[] } => {
    const user = users.get(userId) ?? { memories: [], items: [] };
    users.set(userId, user);
    return user;
  };
  for (const { record } of memories.values()) of(record.userId).memories.push(withoutType(record));
  for (const item of items.values()) {
    checkEvidence(item, memories);
    of(item.record.userId).items.push(withoutType(item.record));
  }
  return [...users].map(([userId, user]) => ({
    userId,
    kind: kinds[userId],
    memories: user.memories.sort(byAge),
    items: user.items,
  }));
}
