import { type CheckName, checkNames, type CheckResult } from '../../../store/records/run-results.ts';
import type { RunProbes } from '../../../store/records/run-probes.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import type { RunTurns } from '../turns-by-arm.ts';
import type { RunMetrics } from '../metrics/metric-selection.ts';
import { plannedSample } from '../planned-sample.ts';
import { storesTexts } from '../text-restrictions.ts';
import { unknownQuality } from '../unknown-quality.ts';
import { answers } from './generated-answers.ts';
import { cells } from './injected-cells.ts';
import { type Check, type CheckInput, examples, fail, type OptionalCheck, pass } from './check.ts';
import { clock } from './clock.ts';
import { data, scores } from './data-and-scores.ts';
import { effect } from './arms-have-effect.ts';
import { embedder, retrieval } from './retrieval-and-embedder.ts';
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

/** Errors: no turn failed, and none was tried again. Means leave failed turns out. */
const errors: Check = ({ failed, answered }) => {
  const total = failed.length + answered.length;
  const again = answered.filter(({ observed }) => (observed.tries ?? 1) > 1);
  if (again.length > 0) return fail(`${again.length} turns were tried more than once: ${examples(again)}`);
  const [first] = failed;
  if (first === undefined) return pass(`0 of ${total} turns failed`, `1 turn of ${total}`);
  return fail(`${failed.length} of ${total} turns failed: ${examples(failed)}: ${first.error.message}`);
};

const checks: Readonly<Record<CheckName, OptionalCheck>> = {
  'token identity': tokenIdentity,
  'token accounting': tokenAccounting,
  reuse,
  cells,
  'numerical parity': numericalParity,
  answers,
  'same memories': sameMemories,
  data,
  scores,
  retrieval,
  clock,
  sample,
  'negative controls': negativeControls,
  isolation,
  metrics,
  embedder,
  serving,
  effect,
  errors,
};

/** Decides every check that applies to this run; an undecided check says why. */
export function decideChecks(input: CheckInput): CheckResult[] {
  return checkNames.flatMap((check) => {
    const finding = checks[check](input);
    return finding === null ? [] : [{ check, ...finding }];
  });
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
