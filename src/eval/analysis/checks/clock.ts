import { type Turns, turnsOfArm } from '../arm-turns.ts';
import { quantiles } from '../statistics/quantile.ts';
import { type Check, decided, undecided } from './check.ts';

/** Extra own time that a system may take compared with the baseline's, ms. */
const TOLERANCE_MS = 5;
/** The median of fewer turns says too little: a few that waited for a core move it. */
const LEAST_TURNS = 20;
/** Above this many runnable processes a core, waiting for a core looks like a system's own time. */
const BUSY = 1.5;

/**
 * Clock: the runner measures the time to the first token. Outside calls of engine, store and memories, a system spends at most
 * 5 ms more of it than the baseline's system, by the median of 20 turns or more; and no system works outside its turns.
 */
export const clock: Check = ({ arms, answered, probes }) => {
  const measured = arms.flatMap(({ name }) => {
    const ms = medianOwnTime(turnsOfArm(answered, name));
    return ms === null ? [] : [{ arm: name, ms }];
  });
  if (measured.length === 0) return undecided('clock', 'no turn was timed by the runner');
  const times = `own time, median: ${measured.map(({ arm, ms }) => `${arm} ${ms.toFixed(2)} ms`).join(', ')}`;
  const outside = Object.entries(probes.refusedCalls ?? {}).filter(([, calls]) => calls > 0);
  if (outside.length > 0) {
    const refused = outside.map(([arm, calls]) => `${arm} (${calls} calls)`).join(', ');
    return decided('clock', false, `work outside of turns was refused: ${refused}; ${times}`);
  }
  const baseline = arms.find(({ comparison }) => comparison === 'baseline')?.name;
  const reference = measured.find(({ arm }) => arm === baseline);
  if (reference === undefined) {
    return undecided('clock', `the baseline, whose own time is the reference, did not run; ${times}`);
  }
  const slow = measured.filter(({ ms }) => ms > reference.ms + TOLERANCE_MS).map(({ arm }) => arm);
  if (slow.length === 0) return decided('clock', true, times);
  const { average, cores } = probes.load ?? { average: 0, cores: 1 };
  const found = `${slow.join(', ')} spent over ${TOLERANCE_MS} ms more than ${baseline} outside of calls`;
  const turns = Math.min(...slow.map((arm) => turnsOfArm(answered, arm).length));
  if (turns < LEAST_TURNS) return undecided('clock', `${found}, by ${turns} turns, ${LEAST_TURNS} needed; ${times}`);
  return average > BUSY * cores
    ? undecided('clock', `${found}, on a busy machine (load ${average.toFixed(1)} on ${cores} cores); ${times}`)
    : decided('clock', false, `${found}; ${times}`);
};

function medianOwnTime(turns: Turns): number | null {
  const times = turns.flatMap(({ observed }) => observed.ownMs ?? []);
  return times.length === 0 ? null : quantiles(times).p50;
}
