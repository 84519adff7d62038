import type { SeededRandom } from '../../src/base/seeded-random.ts';
import { clusteredMean, pairedDesignEffect } from '../../src/eval/analysis/statistics/design-effect.ts';
import { shareDifference } from '../../src/eval/analysis/statistics/paired-difference.ts';
import { signFlipP } from '../../src/eval/analysis/statistics/p-values.ts';
import { judgeFamily } from '../../src/eval/analysis/statistics/verdict.ts';
import { drawItems, userRate } from './samples.ts';

/** One world in which a family of arms is judged against a baseline that is right in 90 %. */
export interface VerdictCell {
  readonly users: number;
  readonly correlation: number;
  /** True loss of every arm, a share. */
  readonly loss: number;
  /** How often an arm is right where the baseline is wrong. */
  readonly repaired: number;
}

/** Shares of simulated runs: with any arm of that verdict, of arms with it; and how often intervals hold the loss. */
export interface VerdictResult {
  readonly anyKept: number;
  readonly anyLost: number;
  readonly kept: number;
  readonly lost: number;
  readonly coverage: number;
}

const ARMS = 4;
const ITEMS = 8;
const RIGHT = 0.9;
const FLIPS = 499;
/** Two points. */
export const MARGIN = 0.02;

export const verdictCells: readonly VerdictCell[] = [10, 20, 30, 60].flatMap((users) =>
  [0, 0.1, 0.3].flatMap((correlation) =>
    [0, MARGIN, 0.05].flatMap((loss) => [0, 0.2].map((repaired) => ({ users, correlation, loss, repaired }))),
  ),
);

/** Values of the baseline and of every arm, and the arms against the baseline. */
function simulatedRun({ users, correlation, loss, repaired }: VerdictCell, random: SeededRandom) {
  const counts = new Array<number>(users).fill(0);
  const empty = () => ({ sums: new Array<number>(users).fill(0), counts, squares: 0 });
  const values = Array.from({ length: ARMS + 1 }, empty);
  const arms = Array.from({ length: ARMS }, () => ({ differences: empty(), gained: 0, lost: 0 }));
  const spoiled = (loss + (1 - RIGHT) * repaired) / RIGHT;
  const add = (totals: ReturnType<typeof empty>, user: number, value: number): void => {
    totals.sums[user]! += value;
    totals.squares += value ** 2;
  };
  for (let user = 0; user < users; user++) {
    const items = drawItems(ITEMS, random);
    counts[user] = items;
    const right = userRate(RIGHT, correlation, random);
    const rates = arms.map(() => userRate(spoiled, correlation, random));
    for (let item = 0; item < items; item++) {
      const base = Number(random.chance(right));
      add(values[0]!, user, base);
      arms.forEach((arm, place) => {
        const own = base === 1 ? Number(!random.chance(rates[place]!)) : Number(random.chance(repaired));
        add(values[place + 1]!, user, own);
        add(arm.differences, user, own - base);
        if (own > base) arm.gained++;
        if (own < base) arm.lost++;
      });
    }
  }
  return { values, arms };
}

export function tryVerdicts(cell: VerdictCell, trials: number, random: SeededRandom): VerdictResult {
  const counts = { anyKept: 0, anyLost: 0, kept: 0, lost: 0, coverage: 0 };
  for (let trial = 0; trial < trials; trial++) {
    const { values, arms } = simulatedRun(cell, random);
    const differences = arms.map((arm) => arm.differences);
    const effect = pairedDesignEffect(values, differences);
    const members = arms.map((arm) => ({
      gain: shareDifference(arm, effect),
      users: clusteredMean(arm.differences).units,
      identical: false,
      p: signFlipP(arm.differences, trial, FLIPS),
      effect,
    }));
    const verdicts = judgeFamily(members, MARGIN).map(({ verdict }) => verdict);
    const { low, high } = members[0]!.gain.interval;
    counts.anyKept += Number(verdicts.includes('kept'));
    counts.anyLost += Number(verdicts.includes('lost'));
    counts.kept += verdicts.filter((verdict) => verdict === 'kept').length / ARMS;
    counts.lost += verdicts.filter((verdict) => verdict === 'lost').length / ARMS;
    counts.coverage += Number(low <= -cell.loss && -cell.loss <= high);
  }
  const rates = Object.entries(counts).map(([name, count]) => [name, count / trials] as const);
  return Object.fromEntries(rates) as unknown as VerdictResult;
}
