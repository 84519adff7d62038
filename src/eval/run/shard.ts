import type { BenchConfig } from '../../config/bench-config.ts';
import { BenchError } from '../../base/bench-error.ts';
import type { Suite } from './suite.ts';

/** A part of a run that is made by itself: every n-th user of the plan, from one of them on. */
export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly of: number;
}

/** The shard that an option `i/n` names. */
export function shardOf(option: string): Shard {
  const [index, of] = option.split('/').map(Number);
  return { index: index!, of: of! };
}

/** Those of the users of a plan whom a process with these options asks. */
export function usersOfShard<User>(users: readonly User[], { shard }: Pick<BenchConfig, 'shard'>): User[] {
  const { index, of } = shardOf(shard ?? '1/1');
  return users.filter((_, position) => position % of === index - 1);
}

/**
 * Lets no run be divided whose parts could not be put together again.
 * @param by the option that divides it
 * @throws BenchError `bad-option`
 */
export function requireDivisible({ judge, kvStore }: BenchConfig, suite: Suite, by: string): void {
  const refused = (what: string, hint: string) => new BenchError('bad-option', `${by}: ${what}`, hint);
  if (suite.measure !== undefined || suite.timesAreResults === true) {
    throw refused(`suite ${suite.name} measures what no part of its users shows`, 'run it whole, on one machine');
  }
  if (judge !== undefined) throw refused('verdicts of a judge are not merged', 'drop --judge');
  if (kvStore !== undefined) {
    throw refused('parts of the users would find other K/V in --kv-store than all of them', 'drop --kv-store');
  }
}
