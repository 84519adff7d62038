import { z } from 'zod';
import { list, object } from './schemas.ts';
import { armResults } from './results/arm-results.ts';
import { checkResult } from './results/check-result.ts';
import { comparison } from './results/comparison.ts';
import { breakEven, conditionResults } from './results/condition-results.ts';
import { judgeResults } from './results/judge-results.ts';
import { measured } from './results/measured.ts';
import { methodResults } from './results/method-results.ts';
import { runDescription } from './results/run-description.ts';
import { schemaVersion } from './schema-version.ts';

/**
 * The results of a run: the document that `results.json` and `--json` hold, and from which tables and figures are drawn.
 * Every number is computed from the stored turns of the run.
 *
 * @see docs/results.md
 */
export const runResults = object({
  schemaVersion: z.literal(schemaVersion),
  run: runDescription,
  arms: list(armResults),
  comparisons: list(comparison),
  checks: list(checkResult),
  /** Each arm under each condition that the suite's data vary; empty where they vary none. */
  conditions: list(conditionResults),
  /** The turn from which on KV pays, by arm; empty without arms that keep KV. */
  breakEven: list(breakEven),
  /** Measurements of the suite beside turns; null where it measures turns alone. */
  measured: measured.nullable(),
  /** The arms as methods at a budget; missing but in the suite `methods`. */
  methods: list(methodResults).exactOptional(),
  /** A judge's agreement with `contains`; missing where none was asked. */
  judge: judgeResults.exactOptional(),
});

/** The document `results.json` of one run. */
export type RunResults = z.output<typeof runResults>;
export type * from './results/arm-results.ts';
export type * from './results/check-result.ts';
export type * from './results/comparison.ts';
export type * from './results/condition-results.ts';
export type * from './results/estimate.ts';
export type * from './results/judge-results.ts';
export type * from './results/measured.ts';
export type * from './results/method-results.ts';
export type * from './results/serving.ts';
export type { ArmNotRun, DatasetPart, EvaluatedTokens, RunDescription } from './results/run-description.ts';
export type { FunnelStage, WrongClass } from './scores.ts';
