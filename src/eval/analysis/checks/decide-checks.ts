import type { CheckResult } from '../../../store/records/results.ts';
import { answers } from './answers.ts';
import { cells } from './cells.ts';
import { type Check, type CheckOfSome, type CheckInput, decided, examples } from './check.ts';
import { clock } from './clock.ts';
import { effect } from './effect.ts';
import { embedder } from './embedder.ts';
import { isolation } from './isolation.ts';
import { negativeControls } from './negative-controls.ts';
import { numericalParity } from './numerical-parity.ts';
import { reuse } from './reuse.ts';
import { sameMemories } from './same-memories.ts';
import { sample } from './sample.ts';
import { serving } from './serving.ts';
import { tokenAccounting } from './token-accounting.ts';
import { tokenIdentity } from './token-identity.ts';

/** The self-test of the metrics, which ran before the first turn. */
const metrics: Check = ({ probes }) => probes.metrics;

/** Errors are counted and shown; a turn that failed is in no mean. */
const errors: Check = ({ failed, answered }) => {
  const total = failed.length + answered.length;
  const [first] = failed;
  return first === undefined
    ? decided('errors', true, `0 of ${total} turns failed`)
    : decided(
        'errors',
        false,
        `${failed.length} of ${total} turns failed: ${examples(failed)}: ${first.error.message}`,
      );
};

const checks: readonly CheckOfSome[] = [
  tokenIdentity,
  tokenAccounting,
  reuse,
  cells,
  numericalParity,
  answers,
  sameMemories,
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

/** Decides every check that is about something in this run, and says of those that it cannot decide why not. */
export function decideChecks(input: CheckInput): CheckResult[] {
  return checks.map((check) => check(input)).filter((result) => result !== null);
}
