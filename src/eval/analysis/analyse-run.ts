/**
 * Pure functions compute the results of a run from its stored turns. `metrics/` scores one answer, `statistics/` holds
 * estimates, intervals and tests, `summary/` applies them to the arms, `checks/` verifies the run itself, one file per
 * check, and `compare/` compares two runs. A new metric is added in `metrics/built-in-metrics.ts`.
 */
import type { SuiteName } from '../../config/bench-config.ts';
import type { Measured } from '../../store/records/suite-measurements.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import type { RunProbes } from '../../store/records/run-probes.ts';
import { schemaVersion } from '../../store/records/schema-version.ts';
import { type RunTurns, turnsOfArm } from './turns-by-arm.ts';
import { checkRun } from './checks/decide-checks.ts';
import { metricsOfRun } from './metrics/metric-selection.ts';
import { redactResult } from './redact-turn.ts';
import { withholdsTexts } from './text-restrictions.ts';
import { clopperPearson } from './statistics/intervals.ts';
import { armResults, retrievalKinds } from './summary/arm-results.ts';
import { breakEvens } from './summary/break-even.ts';
import { compareArms } from './summary/compare-arms.ts';
import { conditionResults } from './summary/condition-results.ts';
import { describeRun, type EndedRun } from './summary/describe-run.ts';
import { designEffects } from './summary/metric-estimates.ts';
import { contrastResults } from './summary/planned-contrast.ts';
import { judgeNotes, judgeResults } from './summary/judge-results.ts';
import { hasRandomControls, methodResults } from './summary/kv-method-results.ts';
import { multiTurnResults } from './summary/multi-turn-results.ts';
import {
  answerPrefixNotes,
  boundNotes,
  evidenceNotes,
  exactnessNotes,
  metricNotes,
  promptNotes,
  retrievalNotes,
} from './summary/result-notes.ts';
import { splitByCache } from './summary/arms-by-role.ts';
import { unknownQuality, clearScores } from './unknown-quality.ts';

/** This suite always has the table of methods; other suites have it if they ran a random control. */
const METHODS_SUITE: SuiteName = 'methods';
const MULTI_TURN_SUITE: SuiteName = 'multi-turn';

export function analyseRun(run: EndedRun, { answered, failed }: RunTurns): RunResults {
  const { seed, probes, plan } = run;
  const { arms } = plan;
  const names = arms.map((arm) => arm.name);
  const metrics = metricsOfRun({ dataset: run.dataset, ...plan });
  const unknown = unknownQuality(run.model);
  const qualityKnown = unknown === null;
  const shown = qualityKnown ? answered : answered.map(clearScores);
  // Reasons of flags and messages of errors may quote the question.
  const redacted = withholdsTexts(run)
    ? { answered: answered.map((turn) => redactResult(turn)), failed: failed.map((turn) => redactResult(turn)) }
    : { answered, failed };
  const split = splitByCache(answered, arms);
  const effects = designEffects(shown, arms, metrics);
  const kinds = retrievalKinds(answered, arms);
  const baseline = turnsOfArm(shown, arms.find(({ comparison }) => comparison === 'baseline')?.name);
  const shared = { baseline, metrics, split, effects, kinds, qualityKnown };
  const judge = probes.judge && judgeResults(probes.judge, shown, names);
  const contrast = contrastResults(shown, run.dataset, { metrics, unknownQuality: unknown, seed });
  return {
    schemaVersion,
    run: describeRun(run, [
      ...evidenceNotes(run.dataset, arms),
      ...metricNotes(shown, metrics),
      ...retrievalNotes(redacted.answered, probes.retriever ?? {}),
      ...promptNotes(answered, names),
      ...answerPrefixNotes(answered, arms, plan.settings),
      ...exactnessNotes(probes.parity, arms),
      ...boundNotes(answered, arms),
      ...(judge ? judgeNotes(judge) : []),
    ]),
    arms: arms.map((arm) => {
      const errors = failed.filter((turn) => turn.arm === arm.name).length;
      return armResults(arm, turnsOfArm(shown, arm.name), errors, shared);
    }),
    conditions: conditionResults({ answered: shown, failed }, names, metrics, effects),
    breakEven: breakEvens(answered, arms),
    measured: withLeaks(probes, qualityKnown),
    ...((run.suite === METHODS_SUITE || hasRandomControls(arms)) && {
      methods: methodResults(shown, arms, { primary: metrics.primary, effects, split, seed }),
    }),
    ...(run.suite === MULTI_TURN_SUITE && { multiTurn: multiTurnResults(shown, arms, metrics.primary) }),
    ...(contrast && { contrast }),
    ...(judge && { judge }),
    comparisons: compareArms(shown, arms, {
      metrics,
      split,
      seed,
      margin: plan.settings.margin,
      bitwise: probes.parity.bitwiseEqual,
    }),
    checks: checkRun(run, { answered, failed: redacted.failed }, metrics),
  };
}

/**
 * The measurements of the suite, with leaked secrets unless the weights are random: one matrix per arm, its rows are the users who
 * ask, its columns the owners, in the same order.
 */
function withLeaks({ measured, isolation }: RunProbes, qualityKnown: boolean): Measured | null {
  if (isolation === null || !qualityKnown) return measured;
  const leaks = isolation.arms.map(({ arm, said, strangers }) => ({
    arm,
    users: said.map((_row, index) => String(index + 1)),
    answers: strangers.answers / said.length,
    said,
    upperBound: clopperPearson(strangers.leaks, strangers.answers).high,
  }));
  return { ...measured, leaks };
}
