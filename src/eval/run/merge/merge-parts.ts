import { BenchError } from '../../../base/bench-error.ts';
import { copyTokenPieces, copyUser } from '../../../store/copy-user.ts';
import type { BenchDatabase } from '../../../store/database.ts';
import { RunRepository } from '../../../store/run-repository.ts';
import { RunUserRepository } from '../../../store/run-user-repository.ts';
import { TurnIndexRepository } from '../../../store/turn-index/turn-index-repository.ts';
import { TurnRepository } from '../../../store/turn-repository.ts';
import type { RunResults } from '../../../store/records/results.ts';
import { resultsOf } from '../../analysis/stored-results.ts';
import { kindsOfMachine } from './kinds-of-machine.ts';
import { mergedProbes } from './merged-probes.ts';
import type { StoredPart } from './same-plan.ts';

/** A part of a run in a database that is open. */
export interface OpenPart extends StoredPart {
  readonly database: BenchDatabase;
}

/** Words about the parts of a run, and what they must hold beside turns. */
export interface MergeRules {
  /** Their origin, for readers of the run. */
  readonly notes: readonly string[];
  /** The hint where users or turns are missing. */
  readonly toComplete: string;
  /** Called when all turns were found. @throws BenchError where something else is missing */
  readonly requireWhole: () => void;
  /** Settings of the whole run, beside those that the parts have in common. */
  readonly settings?: { readonly workers?: number };
}

/** Of what is missing, so much is named. */
const NAMED_AT_MOST = 8;

/** A user, and the part that holds them. */
interface Holder {
  readonly userId: string;
  readonly part: OpenPart;
}

/**
 * Puts the parts of a run together, whose plan is one: the rows of every user in the order of the plan, and the results of all.
 * @throws BenchError `bad-option` where users or turns are missing or there twice; nothing is written then
 */
export function mergeParts(
  target: BenchDatabase,
  parts: readonly [OpenPart, ...OpenPart[]],
  { notes, toComplete, requireWhole, settings: ofWhole = {} }: MergeRules,
): RunResults {
  const [first] = parts;
  const holders = holdersOf(parts, toComplete);
  requireWhole();
  const runs = new RunRepository(target);
  const { name, suite, seed, plan, environment, model, embedder, dataset, retriever } = first.run;
  const { users: planned, ...whole } = plan;
  const { shard: _, ...settings } = plan.settings;
  const begun = { name, suite, seed, environment, model, embedder, dataset, retriever };
  const merged = target.transaction(() => {
    const started = Math.min(...parts.map((part) => part.run.startedAt));
    const run = runs.create({ ...begun, plan: { ...whole, settings: { ...settings, ...ofWhole } } }, started);
    for (const database of new Set(parts.map((part) => part.database))) {
      copyTokenPieces(database, target, model.sha256 || model.name);
    }
    for (const [position, { userId, part }] of holders.entries()) {
      copyUser(part.database, target, { from: part.run.id, to: run.id, userId, position });
    }
    const turnsOf = new Map(planned!.map(({ userId, turns }) => [userId, turns]));
    const machines = kindsOfMachine(
      holders.map(({ userId, part }) => ({
        userId,
        turns: turnsOf.get(userId)!,
        environment: part.run.environment,
      })),
    );
    const found = mergedProbes(
      parts.map((part) => part.run.probes!),
      notes,
    );
    const probes = { ...found, machines };
    const ended = Math.max(...parts.map((part) => part.run.finishedAt ?? 0));
    runs.update(run.id, { probes });
    const results = resultsOf(target, { ...run, status: 'finished', probes, finishedAt: ended });
    runs.update(run.id, { status: 'finished', finishedAt: ended, results });
    return { runId: run.id, results };
  });
  new TurnIndexRepository(target).make(merged.runId);
  return merged.results;
}

/** The part that holds each user, in the order of the plan. @throws BenchError `bad-option` where users are missing, or there twice */
function holdersOf(parts: readonly OpenPart[], toComplete: string): Holder[] {
  const [first] = parts;
  const held = parts.map((part) => ({
    part,
    finished: new RunUserRepository(part.database, part.run.id).finished(),
    turns: new TurnRepository(part.database).countByUser(part.run.id),
  }));
  const missing: string[] = [];
  const holders = first!.run.plan.users!.flatMap(({ userId, turns }) => {
    const holding = held
      .filter((one) => one.finished.has(userId) && one.turns.get(userId) === turns)
      .map(({ part }) => part);
    const [part, other] = holding;
    if (other !== undefined) {
      throw new BenchError(
        'bad-option',
        `${part!.file} and ${other.file} both hold user ${userId}`,
        'name one of them',
      );
    }
    if (part !== undefined) return { userId, part };
    const there = Math.max(...held.map((one) => one.turns.get(userId) ?? 0));
    missing.push(
      there === 0 ? `${userId} (all ${turns} turns)` : `${userId} (${turns - there} of ${turns} turns, or their end)`,
    );
    return [];
  });
  if (missing.length === 0) return holders;
  const more = missing.length > NAMED_AT_MOST ? ` and ${missing.length - NAMED_AT_MOST} users more` : '';
  throw new BenchError('bad-option', `missing: ${missing.slice(0, NAMED_AT_MOST).join(', ')}${more}`, toComplete);
}
