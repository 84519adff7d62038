import type { UserSpeech } from '../metrics/user-speech.ts';
import { byAge } from './consistency.ts';
import type { DatasetItem, DatasetMemory, DatasetUser } from './dataset.ts';
import type { DatasetRecords } from './records.ts';

function withoutType<T extends { readonly type: string }>({ type: _, ...rest }: T): Omit<T, 'type'> {
  return rest;
}

/**
 * Puts the records of a sound file together by user, in the order in which users first appear, memories before items.
 * @param speech of all users of the file
 */
export function assembleUsers({ header, memories, items }: DatasetRecords, speech: UserSpeech): DatasetUser[] {
  const users = new Map<string, { memories: DatasetMemory[]; items: DatasetItem[] }>();
  const of = (userId: string): { memories: DatasetMemory[]; items: DatasetItem[] } => {
    const user = users.get(userId) ?? { memories: [], items: [] };
    users.set(userId, user);
    return user;
  };
  for (const { record } of memories) of(record.userId).memories.push(withoutType(record));
  for (const { record } of items) of(record.userId).items.push(withoutType(record));
  return [...users].map(([userId, user]) => ({
    userId,
    kind: header?.record.userKinds?.[userId],
    speech,
    memories: user.memories.sort(byAge),
    items: user.items,
  }));
}
