import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import { readerOf } from '../statistics/column.ts';
import { quantiles } from '../statistics/quantile.ts';
import { turnField } from '../turn-field.ts';
import { turnsOfArm } from '../turns-of-run.ts';
import { type Check, decided, undecided } from './check.ts';

/** A system may take so much longer than the baseline's to do nothing, milliseconds. */
const TOLERANCE_MS = 5;
/** Of fewer turns a median says too little: some that waited for a core move it. */
const LEAST_TURNS = 20;
/** Above so many runnable processes a core, waiting for a core looks like a system's own time. */
const BUSY = 1.5;

const OWN_MS = turnField('observed', 'ownMs');

/**
 * Clock: the time to the first token is the runner's. Of it, a system spends no more than the baseline's in no call of engine,
 * store or memories, by the median of 20 turns or more, but for 5 ms; and none works outside of its turns.
 */
export const clock: Check = ({ arms, answered, probes }) => {
  const own = new Map(arms.map(({ name }) => [name, medianOf(turnsOfArm(answered, name))]));
  const measured = [...own].flatMap(([arm, ms]) => (ms === null ? [] : [{ arm, ms }]));
  if (measured.length === 0) return undecided('clock', 'no turn was timed by the runner');
  const times = `own time, median: ${measured.map(({ arm, ms }) => `${arm} ${ms.toFixed(2)} ms`).join(', ')}`;
  const outside = Object.entries(probes.refusedCalls ?? {}).filter(([, calls]) => calls > 0);
  if (outside.length > 0) {
    const named = outside.map(([arm, calls]) => `${arm} (${calls} calls)`).join(', ');
    return decided('clock', false, `work outside of turns was refused: ${named}; ${times}`);
  }
  const baseline = arms.find(({ comparison }) => comparison === 'baseline')?.name;
  const reference = baseline === undefined ? null : (own.get(baseline) ?? null);
  if (reference === null)
    return undecided('clock', `the baseline, whose own time others are held against, did not run; ${times}`);
  const slow = measured.filter(({ ms }) => ms > reference + TOLERANCE_MS).map(({ arm }) => arm);
  if (slow.length === 0) return decided('clock', true, times);
  const { average, cores } = probes.load ?? { average: 0, cores: 1 };
  const found = `${slow.join(', ')} spent more than ${TOLERANCE_MS} ms more than ${baseline} in no call`;
  const turns = Math.min(...slow.map((arm) => turnsOfArm(answered, arm).length));
  if (turns < LEAST_TURNS) return undecided('clock', `${found}, by ${turns} turns, ${LEAST_TURNS} needed; ${times}`);
  return average > BUSY * cores
    ? undecided('clock', `${found}, on a busy machine (load ${average.toFixed(1)} on ${cores} cores); ${times}`)
    : decided('clock', false, `${found}; ${times}`);
};

/** Of the own times, milliseconds; null where none was measured. */
function medianOf(turns: readonly AnsweredResult[]): number | null {
  const ownMs = readerOf(turns, OWN_MS);
  const times: number[] = [];
  for (let place = 0; place < turns.length; place++) {
    const ms = ownMs(place);
    if (ms !== undefined) times.push(ms);
  }
  return times.length === 0 ? null : quantiles(times).p50;
}
