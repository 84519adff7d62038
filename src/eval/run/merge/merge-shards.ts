import { BenchError } from '../../../config/bench-error.ts';
import { copyTokenPieces, copyUser } from '../../../db/copy-user.ts';
import type { BenchDatabase } from '../../../db/database.ts';
import { RunRepository } from '../../../db/run-repository.ts';
import { RunUserRepository } from '../../../db/run-user-repository.ts';
import type { RunResults } from '../../../records/results.ts';
import { resultsOf } from '../../analysis/stored-results.ts';
import { mergedProbes } from './merged-probes.ts';
import { partOf, requireOnePlan, type StoredShard } from './same-plan.ts';

/** A shard in a database that is open. */
export interface OpenShard extends StoredShard {
  readonly database: BenchDatabase;
}

/** Of what is missing, so much is named. */
const NAMED_AT_MOST = 8;

/**
 * Puts the shards of a run together: the rows of every user in the order of the plan, and the results of all.
 * @throws BenchError `bad-option` for shards of several plans, versions, models or settings, and where users or turns are
 * missing or there twice; nothing is written then
 */
export function mergeShards(target: BenchDatabase, shards: readonly [OpenShard, ...OpenShard[]]): RunResults {
  requireOnePlan(shards);
  const [first] = shards;
  const holders = holdersOf(shards);
  const runs = new RunRepository(target);
  const { name, suite, seed, plan, environment, model, embedder, dataset, retriever } = first.run;
  const { users: _, ...whole } = plan;
  const { shard: __, ...settings } = plan.settings;
  const begun = { name, suite, seed, environment, model, embedder, dataset, retriever };
  return target.transaction(() => {
    const run = runs.create({ ...begun, plan: { ...whole, settings } });
    for (const { database } of shards) copyTokenPieces(database, target, model.sha256);
    for (const [position, { userId, shard }] of holders.entries()) {
      copyUser(shard.database, target, { from: shard.run.id, to: run.id, userId, position });
    }
    const probes = mergedProbes(
      shards.map((shard) => shard.run.probes!),
      notesOf(shards),
    );
    const ended = Math.max(...shards.map((shard) => shard.run.finishedAt ?? 0));
    runs.update(run.id, { probes });
    const results = resultsOf(target, { ...run, status: 'finished', probes, finishedAt: ended });
    runs.update(run.id, { status: 'finished', finishedAt: ended, results });
    return results;
  });
}

/** The shard that holds each user, in the order of the plan. @throws BenchError `bad-option` where users are missing, or there twice */
function holdersOf(shards: readonly OpenShard[]): { readonly userId: string; readonly shard: OpenShard }[] {
  const [first] = shards;
  const users = new Map(shards.map((shard) => [shard, new RunUserRepository(shard.database, shard.run.id)]));
  const missing: string[] = [];
  const holders = first!.run.plan.users!.flatMap(({ userId, turns }, position) => {
    const holding = shards.filter((shard) => {
      const own = users.get(shard)!;
      return own.isFinished({ userId, position, turns }) && own.turnsOf(userId) === turns;
    });
    const [shard, other] = holding;
    if (other !== undefined) {
      throw new BenchError(
        'bad-option',
        `${shard!.file} and ${other.file} both hold user ${userId}`,
        'name one of them',
      );
    }
    if (shard !== undefined) return { userId, shard };
    const there = Math.max(...shards.map((one) => users.get(one)!.turnsOf(userId)));
    missing.push(
      there === 0 ? `${userId} (all ${turns} turns)` : `${userId} (${turns - there} of ${turns} turns, or their end)`,
    );
    return [];
  });
  const parts = new Set(shards.map((shard) => partOf(shard).index));
  const lacking = Array.from({ length: partOf(first!).of }, (_, index) => index + 1).filter((part) => !parts.has(part));
  if (missing.length > 0) {
    const more = missing.length > NAMED_AT_MOST ? ` and ${missing.length - NAMED_AT_MOST} users more` : '';
    const named = missing.slice(0, NAMED_AT_MOST).join(', ');
    const hint =
      lacking.length === 0
        ? 'go on with the shard that has them: bench --resume'
        : `name the files of shards ${lacking.join(', ')} too`;
    throw new BenchError('bad-option', `missing: ${named}${more}`, hint);
  }
  for (const { file, run } of shards) {
    if (run.status === 'finished' && run.probes !== null) continue;
    const hint = `go on with it: bench --resume ${run.name}`;
    throw new BenchError(
      'bad-option',
      `${file}: shard ${partOf({ file, run }).index} has not made its last checks`,
      hint,
    );
  }
  return holders;
}

/** Notes that a reader must see: the origin of the turns. */
function notesOf(shards: readonly OpenShard[]): string[] {
  const machines = new Set(
    shards.map(
      ({ run: { environment } }) => `${environment.cpu} (${environment.platform}, ${environment.cores} cores)`,
    ),
  );
  return [
    `merged from ${shards.length} shards`,
    ...(machines.size > 1
      ? [`turns were taken on ${machines.size} kinds of machine: ${[...machines].join(', ')}`]
      : []),
  ];
}
