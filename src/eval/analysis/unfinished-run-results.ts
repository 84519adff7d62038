import type { CheckName, Comparison, MethodResults } from '../../store/records/run-results.ts';
import type { RunProbes } from '../../store/records/run-probes.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import type { TurnResult } from '../../store/records/turn-record.ts';
import type { TurnValue } from '../../store/run-progress-repository.ts';
import { analyseRun } from './analyse-run.ts';
import { undecided } from './checks/check.ts';
import { plannedSample, plannedTurns } from './checks/sample.ts';
import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { MetricDeclaration } from '../../store/records/run-description.ts';
import { designEffect } from './statistics/intervals.ts';
import { estimateMean, estimateShare } from './statistics/estimate.ts';
import { type Observation, perItem, unitTotals } from './statistics/observations.ts';
import { isPooled } from './summary/turn-means.ts';

export type UnfinishedRun = RunRecord & {
  readonly status: Exclude<RunRecord['status'], 'finished'>;
  readonly probes: RunProbes;
};

/** Checks that need every turn; the others hold or fail turn by turn. */
const NEED_ALL_TURNS: readonly CheckName[] = ['sample', 'negative controls', 'isolation', 'serving', 'effect'];

export function isUnfinished(run: RunRecord): run is UnfinishedRun {
  return run.status !== 'finished' && run.probes !== null;
}

export function turnsOfPlan(run: Pick<RunRecord, 'dataset' | 'plan'>): number {
  return plannedTurns(run.plan.arms, plannedSample(run));
}

/** Results before a run's end, without verdicts and p. @param underWay null where unrecorded: the last user alone */
export function unfinishedResults(
  run: UnfinishedRun,
  written: Iterable<TurnResult>,
  underWay: ReadonlySet<string> | null,
) {
  const turns = [...written];
  const ofTurns = turnsOfPlan(run);
  const complete = new Set(turns.map(({ userId }) => userId));
  const last = turns.length < ofTurns && turns.length > 0 ? [turns.at(-1)!.userId] : [];
  for (const userId of underWay ?? last) complete.delete(userId);
  const progress = { users: complete.size, ofUsers: run.dataset.users, turns: turns.length, ofTurns };
  if (complete.size === 0) return { progress, results: null };
  const some = turns.filter(({ userId }) => complete.has(userId));
  const results = analyseRun(run, {
    answered: some.filter((turn) => turn.state === 'answered'),
    failed: some.filter((turn) => turn.state === 'failed'),
  });
  return {
    progress,
    results: {
      ...results,
      run: { ...results.run, progress },
      comparisons: results.comparisons.map(withoutVerdict),
      ...(results.methods === undefined ? {} : { methods: results.methods.map(withoutTest) }),
      checks: results.checks.map((result) =>
        NEED_ALL_TURNS.includes(result.check) ? undecided(result.check, 'the run is unfinished') : result,
      ),
    },
  };
}

/** Testing again and again while a run goes on would find differences by chance. */
function withoutVerdict({ neededItems: _, ...comparison }: Comparison): Comparison {
  return { ...comparison, p: null, pAdjusted: null, verdict: 'not judged' };
}

function withoutTest({ againstRandom, ...method }: MethodResults): MethodResults {
  return {
    ...method,
    againstRandom: againstRandom && { ...againstRandom, p: null, pAdjusted: null, outcome: 'not tested' },
  };
}

export class PartialResults {
  readonly #metric: Pick<MetricDeclaration, 'unit'>;
  readonly #arms: readonly { readonly traits: ArmTraits; n: number; errors: number; readonly values: Observation[] }[];

  constructor(arms: readonly ArmTraits[], metric: Pick<MetricDeclaration, 'unit'>) {
    this.#metric = metric;
    this.#arms = arms.map((traits) => ({ traits, n: 0, errors: 0, values: [] }));
  }

  add(turns: readonly TurnValue[]): void {
    for (const arm of this.#arms) {
      const own = turns.filter((turn) => turn.arm === arm.traits.name);
      const answered = own.filter(({ failed }) => !failed);
      arm.n += answered.length;
      arm.errors += own.length - answered.length;
      arm.values.push(...perItem(answered, ({ value }) => value));
    }
  }

  arms() {
    const pooled = this.#arms.filter(({ traits, values }) => isPooled(traits) && values.length > 0);
    const effect = pooled.length === 0 ? undefined : designEffect(pooled.map(({ values }) => unitTotals(values)));
    return this.#arms.map(({ traits, n, errors, values }) => {
      const estimate = this.#metric.unit === '%' ? estimateShare(values, effect) : estimateMean(values);
      return { arm: traits.name, n, errors, estimate };
    });
  }
}
