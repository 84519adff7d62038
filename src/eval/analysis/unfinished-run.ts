import type { CheckResult, Comparison, MethodResults, RunResults } from '../../store/records/results.ts';
import type { RunProbes } from '../../store/records/run-probes.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import type { TurnResult } from '../../store/records/turn-result.ts';
import { analyse } from './analyse.ts';
import type { TurnsOfRun } from './turns-of-run.ts';

/** A run that is under way, or was ended before its last turn, once its self-tests have passed. */
export type UnfinishedRun = RunRecord & {
  readonly status: Exclude<RunRecord['status'], 'finished'>;
  readonly probes: RunProbes;
};

/** Results of an unfinished run so far. */
export interface ResultsSoFar {
  readonly progress: NonNullable<RunResults['run']['progress']>;
  /** Over the users whose turns are all there; null where there is none. */
  readonly results: RunResults | null;
}

/** Checks that hold or fail turn by turn: what they find does not wait for the end. */
const TURN_BY_TURN: readonly CheckResult['check'][] = [
  'token identity',
  'token accounting',
  'reuse',
  'cells',
  'numerical parity',
  'answers',
  'same memories',
  'clock',
  'metrics',
  'embedder',
  'errors',
];

/** True for a run that has turns, or will have some, and no results yet. */
export function isUnfinished(run: RunRecord): run is UnfinishedRun {
  return run.status !== 'finished' && run.probes !== null;
}

/** The turns that a run takes in all. */
export function plannedTurns({ dataset, plan }: Pick<RunRecord, 'dataset' | 'plan'>): number {
  const { repeats = 1 } = plan.settings as { readonly repeats?: number };
  const { items, withoutEvidence = 0 } = dataset;
  const asked = plan.arms.map(({ retrieves }) => (retrieves === 'evidence' ? items - withoutEvidence : items));
  return repeats * asked.reduce((sum, ofArm) => sum + ofArm, 0);
}

/**
 * Computes what can be said of a run before its end: no verdict, no p value, and no check that needs every turn.
 * @param written its turns in the order of writing
 * @param underWay users who are being asked, or were when the run was ended; null where nobody has noted them: users were asked
 * one after the other then, so that the turns of all but the last one are all there
 */
export function resultsSoFar(
  run: UnfinishedRun,
  written: Iterable<TurnResult>,
  underWay: ReadonlySet<string> | null,
): ResultsSoFar {
  const turns = [...written];
  const { dataset } = run;
  const ofTurns = plannedTurns(run);
  const complete = new Set(turns.map(({ userId }) => userId));
  const last = turns.length < ofTurns && turns.length > 0 ? [turns.at(-1)!.userId] : [];
  for (const userId of underWay ?? last) complete.delete(userId);
  const progress = { users: complete.size, ofUsers: dataset.users, turns: turns.length, ofTurns };
  if (complete.size === 0) return { progress, results: null };
  const results = analyse(run, split(turns.filter(({ userId }) => complete.has(userId))));
  return {
    progress,
    results: {
      ...results,
      run: { ...results.run, progress },
      comparisons: results.comparisons.map(unjudged),
      ...(results.methods === undefined ? {} : { methods: results.methods.map(untested) }),
      checks: results.checks.map((check) =>
        TURN_BY_TURN.includes(check.check)
          ? check
          : { check: check.check, status: 'undecided', evidence: 'the run is unfinished' },
      ),
    },
  };
}

function split(turns: readonly TurnResult[]): TurnsOfRun {
  return {
    answered: turns.filter((turn) => turn.state === 'answered'),
    failed: turns.filter((turn) => turn.state === 'failed'),
  };
}

/** As `unjudged`, of a method against random tokens. */
function untested({ againstRandom, ...method }: MethodResults): MethodResults {
  return {
    ...method,
    againstRandom: againstRandom && { ...againstRandom, p: null, pAdjusted: null, outcome: 'not tested' },
  };
}

/** A difference whose test would be made again and again while the run goes on. */
function unjudged({ neededItems: _, ...comparison }: Comparison): Comparison {
  return { ...comparison, p: null, pAdjusted: null, verdict: 'not judged' };
}
