import { estimateShare } from '../statistics/estimate.ts';
import type { Observations } from '../statistics/observations.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { perItem } from '../summary/per-item.ts';
import { decided, notRun, type Gate } from './gate.ts';

const CONTROLS = ['none', 'dki-wrong'];
const LEAST_ITEMS = 30;
const ENOUGH_ITEMS = 100;
const HIGHEST_MEAN = 0.05;
const HIGHEST_LOWER_BOUND = 0.02;

interface ControlResult {
  readonly fails: boolean;
  readonly text: string;
}

function judged(arm: string, closed: Observations, seed: number): ControlResult {
  const estimate = estimateShare(closed, seed)!;
  const fails = (estimate.n >= ENOUGH_ITEMS && estimate.mean > HIGHEST_MEAN) || estimate.low > HIGHEST_LOWER_BOUND;
  return { fails, text: `${arm} ${(100 * estimate.mean).toFixed(1)} % of ${estimate.n} closed items` };
}

/** Nobody answers a closed item without its memory: neither without any, nor with another user's. */
export const controls: Gate = ({ arms, answered, seed, randomWeights }) => {
  if (randomWeights) return notRun('controls', 'random weights answer nothing');
  const ran = CONTROLS.filter((name) => arms.some((arm) => arm.name === name));
  if (ran.length === 0) return notRun('controls', `neither ${CONTROLS.join(' nor ')} ran`);
  const byArm = ran.map((arm) => {
    // A control that was shown nothing of another user controls nothing.
    const shown = (turn: AnsweredTurn): boolean => arm === 'none' || turn.prompt.keptMemories > 0;
    const turns = answered.filter((turn) => turn.arm === arm && turn.evidence.closed && shown(turn));
    return { arm, closed: perItem(turns, (turn) => turn.scores.exactMatch) };
  });
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
