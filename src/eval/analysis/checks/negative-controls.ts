import type { AnsweredResult } from '../../../records/turn-result.ts';
import { estimateShare } from '../statistics/estimate.ts';
import type { Observations } from '../statistics/observations.ts';
import { perItem } from '../statistics/per-item.ts';
import { type Check, decided, undecided } from './check.ts';

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

/** Negative controls: nobody answers a closed item without its memory, neither without any nor with another user's. */
export const negativeControls: Check = ({ arms, answered, seed, randomWeights }) => {
  if (randomWeights) return undecided('negative controls', 'random weights answer nothing');
  const ran = arms.filter(({ control }) => control === 'negative');
  if (ran.length === 0) return undecided('negative controls', 'no negative control ran');
  const byArm = ran.map(({ name, retrieves }) => {
    // A control that was shown nothing of another user controls nothing.
    const shown = (turn: AnsweredResult): boolean => retrieves === 'nothing' || turn.facts.keptMemories > 0;
    const turns = answered.filter((turn) => turn.arm === name && turn.observed.closed && shown(turn));
    return { name, closed: perItem(turns, (turn) => turn.scores.exactMatch) };
  });
  const few = byArm.find(({ closed }) => closed.length < LEAST_ITEMS);
  if (few !== undefined) {
    const reason = `${few.name} has ${few.closed.length} closed items, fewer than ${LEAST_ITEMS}`;
    return undecided('negative controls', reason);
  }
  const results = byArm.map(({ name, closed }) => judged(name, closed, seed));
  return decided(
    'negative controls',
    results.every((result) => !result.fails),
    results.map((result) => result.text).join('; '),
  );
};
