import type { CheckResult } from '../../../store/records/run-results.ts';
import type { RunProbes } from '../../../store/records/run-probes.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import type { RunTurns } from '../run-turns.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { storesTexts } from '../redact-turn.ts';
import { unknownQuality } from '../clear-random-model-scores.ts';
import { answers } from './answers.ts';
import { cells } from './cells.ts';
import { type Check, type CheckInput, decided, examples, type OptionalCheck, undecided } from './check.ts';
import { clock } from './clock.ts';
import { data, scores } from './data.ts';
import { retrieval } from './retrieval.ts';
import { effect } from './effect.ts';
import { isolation } from './isolation.ts';
import { negativeControls } from './negative-controls.ts';
import { numericalParity } from './numerical-parity.ts';
import { reuse } from './reuse.ts';
import { sameMemories } from './same-memories.ts';
import { plannedSample, sample } from './sample.ts';
import { serving } from './serving.ts';
import { tokenAccounting } from './token-accounting.ts';
import { tokenIdentity } from './token-identity.ts';

/** Metrics: their self-test, which ran before the first turn. @see ../metrics/metrics-self-test.ts */
const metrics: Check = ({ probes }) => probes.metrics;

/** Embedder: different sentences have different vectors, and a search for each finds it. */
const embedder: Check = ({ probes: { embedder: probe } }) => {
  if (probe === undefined) return undecided('embedder', 'the embedder was not tested');
  const { sentences, shared, lost, unsigned = false } = probe;
  const count = (found: readonly string[], what: string): string[] =>
    found.length === 0 ? [] : [`${found.length} of ${sentences} sentences ${what}: ${JSON.stringify(found[0])}`];
  const faults = [
    ...count(shared, 'have the vector of another'),
    ...count(lost, 'do not find themselves'),
    ...(unsigned ? ['no vector has a negative number: signs were lost'] : []),
  ];
  return faults.length === 0
    ? decided('embedder', true, `${sentences} sentences: each has a vector of its own and finds itself among all`)
    : decided('embedder', false, faults.join('; '));
};

/** Errors: no turn failed, and none was tried again. Failed turns are in no mean. */
const errors: Check = ({ failed, answered }) => {
  const total = failed.length + answered.length;
  const again = answered.filter(({ observed }) => (observed.tries ?? 1) > 1);
  if (again.length > 0) {
    return decided('errors', false, `${again.length} turns were tried more than once: ${examples(again)}`);
  }
  const [first] = failed;
  if (first === undefined) return decided('errors', true, `0 of ${total} turns failed`);
  const evidence = `${failed.length} of ${total} turns failed: ${examples(failed)}: ${first.error.message}`;
  return decided('errors', false, evidence);
};

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

/** Decides every check that is about something in this run, or says why it cannot be decided. */
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
