import type { Dataset, DatasetUser } from '../dataset/dataset.ts';
import { groupBy } from '../group-by.ts';
import { SeededRandom } from '../random.ts';

const LEAST_USERS = 8;

/** Users of each kind in turn, so that a small draw holds every kind. */
function alternating(users: readonly DatasetUser[]): DatasetUser[] {
  const kinds = groupBy(users, (user) => user.kind ?? '');
  const queues = [...kinds.keys()].sort().map((kind) => [...kinds.get(kind)!]);
  const order: DatasetUser[] = [];
  while (queues.some((queue) => queue.length > 0)) {
    for (const queue of queues) order.push(...queue.splice(0, 1));
  }
  return order;
}

/**
 * Whole users, drawn by seed, at least eight, each with its first ⌈limit ÷ users⌉ items; all without a limit.
 * They come back in the order of the data set.
 */
export function drawUsers(dataset: Dataset, limit: number | undefined, seed: number): DatasetUser[] {
  const users = dataset.users.filter((user) => user.items.length > 0);
  if (limit === undefined) return users;
  const itemsPerUser = users.reduce((sum, user) => sum + user.items.length, 0) / users.length;
  const count = Math.min(users.length, Math.max(LEAST_USERS, Math.ceil(limit / itemsPerUser)));
  const drawn = new Set(alternating(new SeededRandom(seed).shuffled(users)).slice(0, count));
  const items = Math.ceil(limit / count);
  return users.filter((user) => drawn.has(user)).map((user) => ({ ...user, items: user.items.slice(0, items) }));
}
