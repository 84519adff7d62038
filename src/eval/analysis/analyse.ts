import type { SuiteName } from '../../config/bench-config.ts';
import type { LeakMatrix, Measured, RunResults } from '../../store/records/results.ts';
import type { IsolationProbe, RunProbes } from '../../store/records/run-probes.ts';
import { schemaVersion } from '../../store/records/schema-version.ts';
import { decideChecks } from './checks/decide-checks.ts';
import { plannedSample } from './checks/sample.ts';
import { metricsOfRun } from './metrics/run-metrics.ts';
import { clopperPearson } from './statistics/clopper-pearson.ts';
import { armResults } from './summary/arm-results.ts';
import { breakEvens } from './summary/break-even.ts';
import { compareWithBaseline } from './summary/comparisons.ts';
import { conditionResults } from './summary/condition-results.ts';
import { designEffectsOf } from './summary/design-effects.ts';
import { describeRun, type EndedRun } from './summary/describe-run.ts';
import {
  answerPrefixNotes,
  boundNotes,
  evidenceNotes,
  exactnessNotes,
  metricNotes,
  promptNotes,
  retrievalNotes,
} from './summary/notes.ts';
import { machineDifferences } from './summary/machine-differences.ts';
import { judgeNotes, judgeResults } from './summary/judge-agreement.ts';
import { haveControls } from './summary/methods/method-of-arm.ts';
import { methodResults } from './summary/methods/method-results.ts';
import { regimeOf } from './summary/regime.ts';
import { retrievalKinds } from './summary/retrieval-kinds.ts';
import { resultWithoutTexts } from './texts/turn-without-texts.ts';
import { storesTexts, withholdsTexts } from './texts/withheld-texts.ts';
import { type TurnsOfRun, turnsOfArm } from './turns-of-run.ts';
import { unknownQuality, withoutQuality } from './unknown-quality.ts';

/** The suite whose arms are methods at a budget; other runs may have some. */
const METHODS_SUITE: SuiteName = 'methods';

/** Computes the results of a run from its record and its turns, and from nothing else. */
export function analyse(run: EndedRun, { answered, failed }: TurnsOfRun): RunResults {
  const { seed, probes, plan } = run;
  const { arms } = plan;
  const names = arms.map((arm) => arm.name);
  const metrics = metricsOfRun({
    dataset: run.dataset,
    ...(plan.metrics === undefined ? {} : { metrics: plan.metrics }),
  });
  const regime = regimeOf(answered, arms);
  const baselineName = arms.find(({ comparison }) => comparison === 'baseline')?.name;
  const judged = unknownQuality(run.model) === null;
  const shown = judged ? answered : answered.map(withoutQuality);
  // Reasons and messages may quote what was asked.
  const quoted = withholdsTexts(run)
    ? {
        answered: answered.map((turn) => resultWithoutTexts(turn)),
        failed: failed.map((turn) => resultWithoutTexts(turn)),
      }
    : { answered, failed };
  const baseline = turnsOfArm(shown, baselineName);
  const effects = designEffectsOf(shown, arms, metrics);
  const kinds = retrievalKinds(answered, arms);
  const byJudge = probes.judge === undefined ? undefined : judgeResults(probes.judge, shown, names);
  return {
    schemaVersion,
    run: describeRun(
      run,
      [
        ...evidenceNotes(run.dataset, arms),
        ...metricNotes(shown, metrics),
        ...retrievalNotes(quoted.answered, probes.retriever ?? {}),
        ...promptNotes(answered, names),
        ...answerPrefixNotes(answered, arms, plan.settings),
        ...exactnessNotes(probes.parity, arms),
        ...boundNotes(answered, arms),
        ...(byJudge === undefined ? [] : judgeNotes(byJudge)),
      ],
      machineDifferences(shown, { machines: probes.machines ?? [], arms, primary: metrics.primary, seed }),
    ),
    arms: arms.map((arm) =>
      armResults(arm, turnsOfArm(shown, arm.name), failed.filter((turn) => turn.arm === arm.name).length, {
        baseline,
        metrics,
        regime,
        effects,
        kinds,
        judged,
      }),
    ),
    conditions: conditionResults(shown, failed, names, metrics, effects),
    breakEven: breakEvens(answered, arms),
    measured: measuredOf(probes, judged),
    ...(run.suite === METHODS_SUITE || haveControls(arms)
      ? { methods: methodResults(shown, arms, { primary: metrics.primary, effects, regime, seed }) }
      : {}),
    ...(byJudge === undefined ? {} : { judge: byJudge }),
    comparisons: compareWithBaseline(shown, arms, {
      ...{ metrics, regime, seed },
      margin: plan.settings.margin,
      bitwise: probes.parity.bitwiseEqual,
    }),
    checks: decideChecks({
      arms,
      answered,
      failed: quoted.failed,
      probes,
      metrics,
      seed,
      plan: plannedSample(run),
      textsStored: storesTexts(run),
      randomWeights: !judged,
    }),
  };
}

/** The measurements of the suite, and the leak matrices of the isolation probe where its answers say anything. */
function measuredOf({ measured, isolation }: RunProbes, judged: boolean): Measured | null {
  return isolation === null || !judged ? measured : { ...measured, leaks: leakMatrices(isolation) };
}

/** Secrets that came out, by arm; askers and owners are the same people in the same order. */
function leakMatrices({ arms }: IsolationProbe): LeakMatrix[] {
  return arms.map(({ arm, said, strangers }) => ({
    arm,
    users: said.map((_row, index) => String(index + 1)),
    answers: strangers.answers / said.length,
    said,
    upperBound: clopperPearson(strangers.leaks, strangers.answers).high,
  }));
}
