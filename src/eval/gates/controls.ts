import type { AnsweredTurn } from '../stored-turn.ts';
import { estimateShare } from '../statistics/estimate.ts';
import { decided, notRun, type Gate } from './gate.ts';

const CONTROLS = ['none', 'dki-wrong'];
const LEAST_ITEMS = 30;
const ENOUGH_ITEMS = 100;
const HIGHEST_MEAN = 0.05;
const HIGHEST_LOWER_BOUND = 0.02;

interface ControlResult {
  readonly arm: string;
  readonly fails: boolean;
  readonly text: string;
}

function judged(arm: string, closed: readonly AnsweredTurn[], seed: number): ControlResult {
  const estimate = estimateShare(
    closed.map((turn) => ({ userId: turn.userId, value: turn.scores.exactMatch ?? 0 })),
    seed,
  )!;
  const fails = (estimate.n >= ENOUGH_ITEMS && estimate.mean > HIGHEST_MEAN) || estimate.low > HIGHEST_LOWER_BOUND;
  return { arm, fails, text: `${arm} ${(100 * estimate.mean).toFixed(1)} % of ${estimate.n} closed items` };
}

/** Nobody answers a closed item without its memory: neither without any, nor with another user's. */
export const controls: Gate = ({ answered, seed }) => {
  const byArm = CONTROLS.map((arm) => ({
    arm,
    closed: answered.filter((turn) => turn.arm === arm && turn.evidence.closed),
  })).filter(({ closed }) => closed.length > 0);
  if (byArm.length === 0) return notRun('controls', `neither ${CONTROLS.join(' nor ')} ran`);
  const few = byArm.find(({ closed }) => closed.length < LEAST_ITEMS);
  if (few !== undefined) {
    return notRun('controls', `${few.arm} has ${few.closed.length} closed items, fewer than ${LEAST_ITEMS}`);
  }
  const results = byArm.map(({ arm, closed }) => judged(arm, closed, seed));
  return decided(
    'controls',
    results.every((result) => !result.fails),
    results.map((result) => result.text).join('; '),
  );
};
