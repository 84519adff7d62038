import { BenchError } from '../../base/bench-error.ts';
import { TokenPieceRepository } from '../../store/token-piece-repository.ts';
import { readUserRows, writeUserRows } from '../../store/transfer-user-rows.ts';
import type { BenchDatabase } from '../../store/database.ts';
import type { MachineKind } from '../../store/records/run-description.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { RunRepository } from '../../store/run-repository.ts';
import { UserClaimRepository } from '../../store/user-claim-repository.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import { SHIFT_BOUND } from '../analysis/checks/injected-cells.ts';
import { resultsOf } from '../analysis/results-from-stored-turns.ts';
import { sum } from '../analysis/statistics/observations.ts';
import { parseShard } from '../analysis/planned-sample.ts';
import { firstDifference } from './plan/compare-plans.ts';
import { sumAudits } from '../../store/records/prompt-token-audit.ts';
import type { RunProbes } from '../../store/records/run-probes.ts';
import { addBooks } from './run-level-results.ts';
import { addCounts, sumByName } from './workers/add-counts.ts';

const MAX_NAMED = 8;

/** A part of a run: a shard, or what a worker of a queue has stored. */
export interface RunPart {
  readonly file: string;
  /** Id of the shard's run or of the worker, by which a second merge of the part is recognised. */
  readonly source: string;
  readonly run: RunRecord;
  readonly database: BenchDatabase;
}

type Parts = readonly [RunPart, ...RunPart[]];

interface MergeRules {
  readonly notes: readonly string[];
  readonly toComplete: string;
  /** Called when all turns were found. @throws BenchError if anything else is missing */
  readonly requireWhole: () => void;
  /** Settings of the whole run, beside those that the parts share. */
  readonly settings?: { readonly workers?: number };
}

/**
 * Merges the parts of a run, user by user; parts that were merged before change nothing. @throws BenchError `bad-option` for
 * parts of different plans, and for users or turns that are missing or duplicated; nothing is written then
 */
export function mergeRunParts(
  target: BenchDatabase,
  parts: Parts,
  { notes, toComplete, requireWhole, settings: ofWhole = {} }: MergeRules,
): RunResults {
  const runs = new RunRepository(target);
  const known = mergedBefore(target, parts);
  if (known !== undefined) return runs.results(known.id)!;
  requireOnePlan(parts);
  const holders = userHolders(parts, toComplete);
  requireWhole();
  const { name, suite, seed, plan, environment, model, embedder, dataset, retriever } = parts[0].run;
  const { users: _, ...whole } = plan;
  const { shard: __, ...settings } = plan.settings;
  const begun = { name, suite, seed, environment, model, embedder, dataset, retriever };
  return target.transaction(() => {
    const started = Math.min(...parts.map(({ run }) => run.startedAt));
    const run = runs.create({ ...begun, plan: { ...whole, settings: { ...settings, ...ofWhole } } }, started);
    for (const database of new Set(parts.map((part) => part.database))) {
      const modelId = model.sha256 || model.name;
      new TokenPieceRepository(target).add(modelId, new TokenPieceRepository(database).all(modelId));
    }
    for (const [position, { userId, part }] of holders.entries()) {
      const rows = readUserRows(part.database, { runId: part.run.id, userId });
      writeUserRows(target, { runId: run.id, userId, position, worker: part.source }, rows);
    }
    const findings = parts.map((part) => part.run.probes!);
    const probes = { ...mergedProbes(findings, notes), machines: machineKinds(holders) };
    const finishedAt = Math.max(...parts.map((part) => part.run.finishedAt ?? 0));
    runs.update(run.id, { probes });
    const results = resultsOf(target, { ...run, status: 'finished', probes, finishedAt });
    runs.update(run.id, { status: 'finished', finishedAt, results });
    return results;
  });
}

/** The finished run of the target that holds every user of these parts; undefined if there is none. */
function mergedBefore(target: BenchDatabase, parts: Parts): RunRecord | undefined {
  const run = new RunRepository(target).findByName(parts[0].run.name);
  if (run?.status !== 'finished') return undefined;
  const merged = new UserClaimRepository(target, run.id).finished();
  const held = parts.flatMap(({ database, run: { id }, source }) =>
    [...new UserClaimRepository(database, id).finished().keys()].map((userId) => ({ userId, source })),
  );
  return held.length > 0 && held.every(({ userId, source }) => merged.get(userId) === source) ? run : undefined;
}

function requireOnePlan([first, ...others]: Parts): void {
  for (const other of others) {
    const differing = firstDifference(first.run, other.run);
    if (differing === undefined) continue;
    const hint = 'merge shards of one plan, made with the same version, model and options';
    throw new BenchError('bad-option', `${first.file} and ${other.file} differ in: ${differing}`, hint);
  }
}

type Holder = ReturnType<typeof userHolders>[number];

/** Finds the part that holds each user. @throws BenchError `bad-option` for missing and duplicated users */
function userHolders(parts: Parts, toComplete: string) {
  const held = parts.map((part) => ({
    part,
    finished: new UserClaimRepository(part.database, part.run.id).finished(),
    turns: new TurnRepository(part.database).countByUser(part.run.id),
  }));
  const missing: string[] = [];
  const holders = parts[0].run.plan.users!.flatMap(({ userId, turns }) => {
    const [part, other] = held
      .filter((one) => one.finished.has(userId) && (one.turns.get(userId) ?? 0) === turns)
      .map((one) => one.part);
    if (part !== undefined && other !== undefined) {
      const message = `${part.file} and ${other.file} both hold user ${userId}`;
      throw new BenchError('bad-option', message, 'name one of them');
    }
    if (part !== undefined) return [{ userId, turns, part }];
    const found = Math.max(...held.map((one) => one.turns.get(userId) ?? 0));
    const lacks = found === 0 ? `all ${turns} turns` : `${turns - found} of ${turns} turns, or unfinished`;
    missing.push(`${userId} (${lacks})`);
    return [];
  });
  if (missing.length === 0) return holders;
  const more = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} users more` : '';
  throw new BenchError('bad-option', `missing: ${missing.slice(0, MAX_NAMED).join(', ')}${more}`, toComplete);
}

/** The kinds of machine that took the turns of a run, in the order of the plan. */
function machineKinds(holders: readonly Holder[]): readonly MachineKind[] {
  const machine = ({ part }: Holder): Omit<MachineKind, 'users' | 'turns'> => {
    const { platform, cpu, cores, threads, engine, build } = part.run.environment as unknown as MachineKind;
    return { platform, cpu, cores, threads, engine, build };
  };
  const kinds = Map.groupBy(holders, (holder) => JSON.stringify(machine(holder)));
  return [...kinds.values()].map((own) => ({
    ...machine(own[0]!),
    users: own.map(({ userId }) => userId),
    turns: sum(own.map(({ turns }) => turns)),
  }));
}

export type ShardFile = Omit<RunPart, 'source'>;

/** Merges the shards of a run. @throws BenchError as `mergeRunParts`, and for one that is no shard or is unfinished */
export function mergeShards(target: BenchDatabase, files: readonly [ShardFile, ...ShardFile[]]): RunResults {
  const byRun = new Map(files.map((file) => [file.run.id, { ...file, source: file.run.id }]));
  const shards = [...byRun.values()] as unknown as Parts;
  const indices = shards.map(shardIndex);
  const { of } = parseShard(shards[0].run.plan.settings.shard!);
  const lacking = Array.from({ length: of }, (_, index) => index + 1).filter((index) => !indices.includes(index));
  return mergeRunParts(target, shards, {
    notes: [`merged from ${shards.length} shards`],
    toComplete:
      lacking.length === 0
        ? 'go on with the shard that has them: bench --resume'
        : `name the files of shards ${lacking.join(', ')} too`,
    requireWhole: () => shards.forEach(requireFinished),
  });
}

function shardIndex({ file, run }: ShardFile): number {
  const { shard } = run.plan.settings;
  if (shard !== undefined && run.plan.users !== undefined) return parseShard(shard).index;
  throw new BenchError('bad-option', `${file}: run "${run.name}" is no shard`, 'shards are made by bench --shard i/n');
}

function requireFinished(shard: ShardFile): void {
  const { file, run } = shard;
  if (run.status === 'finished' && run.probes !== null) return;
  const message = `${file}: shard ${shardIndex(shard)} has not run its last checks`;
  throw new BenchError('bad-option', message, `go on with it: bench --resume ${run.name}`);
}

type Profile = RunProbes['profile'];

/** The field of the probes with the most faults, of the first if several have as many; nothing if these lack it. */
function worst<Name extends keyof RunProbes>(
  name: Name,
  all: readonly RunProbes[],
  faults: (one: RunProbes) => number,
) {
  const found = all.reduce((before, one) => (faults(one) > faults(before) ? one : before));
  return (found[name] === undefined ? {} : { [name]: found[name] }) as Pick<RunProbes, Name>;
}

function cellFaults({ cells }: RunProbes): number {
  if (cells === undefined || 'missing' in cells) return Infinity;
  const { oneBlock, shift } = cells;
  if (shift !== null && !(shift <= SHIFT_BOUND)) return Number.MAX_VALUE;
  return oneBlock === null || oneBlock.bitwiseEqual ? 0 : oneBlock.largestDifference;
}

function isolationFaults({ isolation }: RunProbes): number {
  const leaks = (isolation?.arms ?? []).map(({ strangers, doubles, atOnce, reopened, owners }) => {
    const { leaks = 0, lost = 0 } = atOnce ?? {};
    const reopenedFaults = (reopened?.leaks ?? 0) + (reopened?.reused ?? 0);
    const unheard = 1 - owners.right / Math.max(1, owners.answers);
    return strangers.leaks + doubles.reused + leaks + lost + reopenedFaults + unheard;
  });
  return isolation === null ? Infinity : Math.max(0, ...leaks);
}

function addProfiles(profiles: readonly Profile[]): Profile {
  const [first, ...others] = profiles;
  return others.reduce((sum, { wallMs, coldStartMs, modelMs, embedderMs, spent, evaluatedTokens = null }) => {
    const booked = spent === undefined ? sum : addBooks(sum, { spent, evaluatedTokens, modelMs, embedderMs });
    return { ...booked, wallMs: sum.wallMs + wallMs, coldStartMs: Math.max(sum.coldStartMs, coldStartMs) };
  }, first!);
}

/** Merges the probes of parts. Of a test that each part ran, the worst result counts. */
function mergedProbes(all: readonly RunProbes[], notes: readonly string[]): RunProbes {
  const [first] = all;
  const audits = all.flatMap(({ audit }) => audit ?? []);
  const rereads = all.flatMap(({ reread }) => reread ?? []);
  const embedderFaults = ({ embedder }: RunProbes): number =>
    embedder?.unsigned === true ? Infinity : (embedder?.shared.length ?? 0) + (embedder?.lost.length ?? 0);
  return {
    ...first!,
    ...worst('parity', all, ({ parity }) => (parity.bitwiseEqual ? 0 : 1 + parity.largestDifference)),
    ...worst('cells', all, cellFaults),
    ...worst('metrics', all, ({ metrics }) => Number(metrics.status !== 'passed')),
    ...worst('embedder', all, embedderFaults),
    ...worst('isolation', all, isolationFaults),
    ...worst('retrieverProbe', all, ({ retrieverProbe }) => retrieverProbe?.wrong.length ?? 0),
    ...worst('load', all, ({ load }) => (load?.average ?? 0) / (load?.cores ?? 1)),
    ...addCounts(all.map(({ refusedCalls = {}, kvStores, retriever = {} }) => ({ refusedCalls, kvStores, retriever }))),
    ...(rereads.length === 0 ? {} : { reread: sumByName(rereads) }),
    ...(audits.length === 0 ? {} : { audit: audits.reduce(sumAudits) }),
    notes: [...new Set([...all.flatMap((probes) => probes.notes), ...notes])],
    profile: addProfiles(all.map(({ profile }) => profile)),
  };
}
