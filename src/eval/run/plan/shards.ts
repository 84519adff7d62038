import { BenchError } from '../../../base/bench-error.ts';
import type { BenchConfig } from '../../../config/bench-config.ts';

/** Reads option `--shard i/n`: a part of a run has every n-th user of the plan, starting at user i (from 1). */
export function parseShard(option: string): { readonly index: number; readonly of: number } {
  const [index, of] = option.split('/').map(Number);
  return { index: index!, of: of! };
}

/** The users of a plan who belong to `--shard`; all users without that option. */
export function shardUsers<User>(users: readonly User[], { shard = '1/1' }: Pick<BenchConfig, 'shard'>): User[] {
  const { index, of } = parseShard(shard);
  return users.filter((_, position) => position % of === index - 1);
}

/** Refuses to divide a run whose parts could not be merged. @throws BenchError `bad-option` */
export function requireDivisible(
  { judge, kvStore }: BenchConfig,
  suite: { readonly name: string; readonly measure?: unknown; readonly timesAreResults?: true },
  by: string,
): void {
  const refused = (what: string, hint: string) => new BenchError('bad-option', `${by}: ${what}`, hint);
  if (suite.measure !== undefined || suite.timesAreResults === true) {
    throw refused(`suite ${suite.name} measures more than turns of single users`, 'run it whole, on one machine');
  }
  if (judge !== undefined) throw refused('verdicts of a judge are not merged', 'drop --judge');
  if (kvStore !== undefined) {
    throw refused('what a turn finds in --kv-store depends on how users are divided', 'drop --kv-store');
  }
}
