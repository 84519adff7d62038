import type { CheckResult } from '../../../store/records/run-results.ts';
import type { RunProbes } from '../../../store/records/run-probes.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import type { RunTurns } from '../turns-by-arm.ts';
import type { RunMetrics } from '../metrics/metric-selection.ts';
import { plannedSample } from '../planned-sample.ts';
import { storesTexts } from '../text-restrictions.ts';
import { unknownQuality } from '../unknown-quality.ts';
import { answers } from './generated-answers.ts';
import { cells } from './injected-cells.ts';
import type { Check, CheckInput, OptionalCheck } from './check.ts';
import { clock } from './clock.ts';
import { data, scores } from './data-and-scores.ts';
import { effect } from './arms-have-effect.ts';
import { embedder, retrieval } from './retrieval-and-embedder.ts';
import { errors } from './failed-or-retried-turns.ts';
import { isolation } from './isolation.ts';
import { negativeControls } from './negative-controls.ts';
import { numericalParity } from './numerical-parity.ts';
import { reuse } from './cache-reuse.ts';
import { sameMemories } from './same-memories.ts';
import { sample } from './planned-turns-and-arm-order.ts';
import { serving } from './serving.ts';
import { tokenAccounting } from './token-accounting.ts';
import { tokenIdentity } from './token-identity.ts';

/** Metrics: the result of their self-test, which ran before the first turn. @see ../metrics/metrics-self-test.ts */
const metrics: Check = ({ probes }) => probes.metrics;

const checks: readonly OptionalCheck[] = [
  tokenIdentity,
  tokenAccounting,
  reuse,
  cells,
  numericalParity,
  answers,
  sameMemories,
  data,
  scores,
  retrieval,
  clock,
  sample,
  negativeControls,
  isolation,
  metrics,
  embedder,
  serving,
  effect,
  errors,
];

/** Decides every check that applies to this run; an undecided check says why. */
export function decideChecks(input: CheckInput): CheckResult[] {
  return checks.map((check) => check(input)).filter((result) => result !== null);
}

export function checkRun(run: RunRecord & { readonly probes: RunProbes }, turns: RunTurns, metrics: RunMetrics) {
  return decideChecks({
    ...turns,
    arms: run.plan.arms,
    probes: run.probes,
    metrics,
    seed: run.seed,
    plan: plannedSample(run),
    textsStored: storesTexts(run),
    randomWeights: unknownQuality(run.model) !== null,
  });
}
