import type { AskedData } from '../../data/asked-data.ts';
import type { Dataset, DatasetUser } from '../../data/dataset.ts';
import { BenchError } from '../../base/bench-error.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import type { BenchConfig } from '../../config/bench-config.ts';
import { LEAST_USERS } from '../analysis/statistics/verdict.ts';

/** A data set of a run with those of its users who were drawn. */
export interface DrawnDataset {
  readonly part: Dataset;
  readonly users: readonly DatasetUser[];
}

/** One of each list in turn, until all are at their ends. */
function inTurn<T>(lists: readonly (readonly T[])[]): T[] {
  const queues = lists.map((list) => [...list]);
  const order: T[] = [];
  while (queues.some((queue) => queue.length > 0)) {
    for (const queue of queues) order.push(...queue.splice(0, 1));
  }
  return order;
}

/** Settings that decide which users are drawn. */
type DrawSettings = Pick<BenchConfig, 'limit' | 'users' | 'seed'>;

/** Users of each kind in turn, so that a small draw holds every kind. */
function alternating(users: readonly DatasetUser[]): DatasetUser[] {
  const kinds = Map.groupBy(users, (user) => user.kind ?? '');
  return inTurn([...kinds.keys()].sort().map((kind) => kinds.get(kind)!));
}

/**
 * Whole users, drawn by seed: as many as `--users` says, else as many as `--limit` fills, at least the ten that a verdict needs;
 * each with its first ⌈limit ÷ users⌉ items. All of both where neither is given. Several data sets give users in turn, each those
 * that it would give alone. They come back in the order of the data sets.
 * @throws BenchError where more users are wanted than have questions
 */
export function drawUsers({ parts }: Pick<AskedData, 'parts'>, settings: DrawSettings): DatasetUser[] {
  const asked = parts.map((dataset) => dataset.users.filter((user) => user.items.length > 0));
  const users = asked.flat();
  const { limit } = settings;
  const count = usersWanted(users, settings);
  const orders = asked.map((own) => alternating(new SeededRandom(settings.seed).shuffled(own)));
  const drawn = new Set(inTurn(orders).slice(0, count));
  const items = limit === undefined ? undefined : Math.ceil(limit / count);
  return users.filter((user) => drawn.has(user)).map((user) => ({ ...user, items: user.items.slice(0, items) }));
}

/** How many users are drawn of those who have questions. */
function usersWanted(users: readonly DatasetUser[], { limit, users: wanted }: DrawSettings): number {
  if (wanted !== undefined && wanted > users.length) {
    throw new BenchError(
      'bad-option',
      `--users ${wanted}: ${users.length} users have questions`,
      `give a number from 1 to ${users.length}`,
    );
  }
  if (wanted !== undefined) return wanted;
  if (limit === undefined) return users.length;
  const itemsPerUser = users.reduce((sum, user) => sum + user.items.length, 0) / users.length;
  return Math.min(users.length, Math.max(LEAST_USERS, Math.ceil(limit / itemsPerUser)));
}

/** The data sets of a run, each with its own of the users who were drawn. */
export function drawnDatasets({ parts }: Pick<AskedData, 'parts'>, users: readonly DatasetUser[]): DrawnDataset[] {
  const drawn = new Map(users.map((user) => [user.userId, user]));
  return parts.map((part) => ({ part, users: part.users.flatMap(({ userId }) => drawn.get(userId) ?? []) }));
}
