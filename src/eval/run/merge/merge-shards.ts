import { BenchError } from '../../../base/bench-error.ts';
import type { BenchDatabase } from '../../../store/database.ts';
import type { RunResults } from '../../../store/records/results.ts';
import { type Shard, shardOf } from '../shard.ts';
import { mergeParts, type OpenPart } from './merge-parts.ts';
import { requireOnePlan } from './same-plan.ts';

/** Which part of a run it is. @throws BenchError `bad-option` for a run that is no shard */
function shardIn({ file, run }: OpenPart): Shard {
  const { shard } = run.plan.settings;
  if (shard !== undefined && run.plan.users !== undefined) return shardOf(shard);
  throw new BenchError('bad-option', `${file}: run "${run.name}" is no shard`, 'shards are made by bench --shard i/n');
}

/**
 * Puts the shards of a run together.
 * @throws BenchError `bad-option` for shards of several plans, versions, models or settings, and as `mergeParts`; nothing is
 * written then
 */
export function mergeShards(target: BenchDatabase, shards: readonly [OpenPart, ...OpenPart[]]): RunResults {
  const all = shards.map(shardIn);
  requireOnePlan(shards);
  const parts = new Set(all.map(({ index }) => index));
  const lacking = Array.from({ length: all[0]!.of }, (_, index) => index + 1).filter((part) => !parts.has(part));
  return mergeParts(target, shards, {
    notes: [`merged from ${shards.length} shards`],
    toComplete:
      lacking.length === 0
        ? 'go on with the shard that has them: bench --resume'
        : `name the files of shards ${lacking.join(', ')} too`,
    requireWhole: () => {
      for (const shard of shards) requireEnded(shard);
    },
  });
}

function requireEnded(shard: OpenPart): void {
  const { file, run } = shard;
  if (run.status === 'finished' && run.probes !== null) return;
  const hint = `go on with it: bench --resume ${run.name}`;
  throw new BenchError('bad-option', `${file}: shard ${shardIn(shard).index} has not made its last checks`, hint);
}
