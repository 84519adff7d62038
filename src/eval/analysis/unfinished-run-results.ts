import type { CheckName, Comparison, MethodResults } from '../../store/records/run-results.ts';
import type { ContrastResults } from '../../store/records/planned-contrast.ts';
import type { RunProbes } from '../../store/records/run-probes.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import type { TurnResult } from '../../store/records/turn-record.ts';
import { analyseRun } from './analyse-run.ts';
import { undecided } from './checks/check.ts';
import { plannedSize } from './planned-sample.ts';
import { byState } from './turns-by-arm.ts';

export type UnfinishedRun = RunRecord & {
  readonly status: Exclude<RunRecord['status'], 'finished'>;
  readonly probes: RunProbes;
};

/** Checks that need every turn; the others judge each turn by itself. */
const NEED_ALL_TURNS: readonly CheckName[] = ['sample', 'negative controls', 'isolation', 'serving', 'effect'];

export function isUnfinished(run: RunRecord): run is UnfinishedRun {
  return run.status !== 'finished' && run.probes !== null;
}

/** Results of the users with all turns written, without tests. @param underWay users in progress; null: the last one */
export function unfinishedResults(
  run: UnfinishedRun,
  written: Iterable<TurnResult>,
  underWay: ReadonlySet<string> | null,
) {
  const turns = [...written];
  const { ofUsers, ofTurns } = plannedSize(run);
  const complete = new Set(turns.map(({ userId }) => userId));
  const last = turns.length < ofTurns && turns.length > 0 ? [turns.at(-1)!.userId] : [];
  for (const userId of underWay ?? last) complete.delete(userId);
  const progress = { users: complete.size, ofUsers, turns: turns.length, ofTurns };
  if (complete.size === 0) return { progress, results: null };
  const some = turns.filter(({ userId }) => complete.has(userId));
  const results = analyseRun(run, byState(some));
  return {
    progress,
    results: {
      ...results,
      run: { ...results.run, progress },
      comparisons: results.comparisons.map(withoutVerdict),
      ...(results.contrast && { contrast: untestedContrast(results.contrast) }),
      ...(results.methods && { methods: results.methods.map(withoutTest) }),
      checks: results.checks.map((result) =>
        NEED_ALL_TURNS.includes(result.check) ? { check: result.check, ...undecided('the run is unfinished') } : result,
      ),
    },
  };
}

/** Repeated tests while a run goes on would find differences by chance. */
function withoutVerdict({ neededItems: _, mcnemar: __, ...comparison }: Comparison): Comparison {
  return { ...comparison, p: null, pAdjusted: null, pKept: null, verdict: 'not judged' };
}

function untestedContrast({ found, ...contrast }: ContrastResults): ContrastResults {
  if (found.state === 'absent') return { ...contrast, found };
  return { ...contrast, found: { ...found, p: null, verdict: 'not judged' } };
}

function withoutTest({ againstRandom, ...method }: MethodResults): MethodResults {
  return {
    ...method,
    againstRandom: againstRandom && { ...againstRandom, p: null, pAdjusted: null, outcome: 'not tested' },
  };
}
