import type { DatasetUser } from '../dataset/dataset.ts';
import type { RunDescription } from '../results.ts';

function countBy(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names) if (name !== '') counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** Items by kind of user, category and phrasing. */
export function datasetCounts(users: readonly DatasetUser[]): RunDescription['dataset']['counts'] {
  const items = users.flatMap((user) => user.items.map((item) => ({ user, item })));
  return {
    userKind: countBy(items.map(({ user }) => user.kind ?? '')),
    category: countBy(items.map(({ item }) => item.category)),
    phrasing: countBy(items.map(({ item }) => item.phrasing ?? '')),
  };
}
