import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { type Turns, turnsOfArm } from '../turns-by-arm.ts';
import { mean } from '../statistics/observations.ts';
import { quantiles } from '../statistics/estimate-mean.ts';
import { type Check, type CheckInput, fail, pass, undecided } from './check.ts';

/** Limit of a system's own time, ms: a base, more for joining blocks, and more for each token and memory. */
const OWN_MS = 2;
const JOINING_MS = 2;
const OWN_MS_PER_TOKEN = 0.005;
/** For each given memory, shown or not: sorting, labelling, passing on. */
const MS_PER_MEMORY = 0.005;
/** For each block to be joined: its key, its lookup, and the recorder's bookkeeping of both. */
const JOINING_MS_PER_MEMORY = 0.05;
/** More, if its KV may have been computed in the turn: several calls for each block, and copies of its cells. */
const BUILDING_MS_PER_MEMORY = 0.15;
/** This share of the time in calls is always allowed, since the engine takes most of that time. */
const OWN_SHARE = 0.02;
/** With fewer turns, a few that waited for a core would move the median. */
const MIN_TURNS = 20;
/** With fewer turns, even times that are all too long decide nothing. */
const FEWEST_TURNS = 5;
/** Above this many runnable processes per core, waiting for a core looks like a system's own time. */
const BUSY = 1.5;
/** Largest difference between two stopwatches of one interval, ms. */
const BESIDE_MS = 0.25;
/** For passing retrieved memories on, and for putting preferences in front of them, ms. */
const PASS_ON_MS = 2;
/** Part of a turn's total that may lie outside all phases, ms, or as a share. */
const UNPHASED_MS = 1;
const UNPHASED_SHARE = 0.02;

/**
 * Clock: the runner's stopwatch agrees with a second one, with the engine's own time and with the sum of the phases. No
 * system works outside its turns, or spends more outside of calls than building a prompt takes. Medians decide; on a
 * busy machine or for few turns, a limit must be exceeded in nine of ten turns.
 */
export const clock: Check = ({ arms, answered, probes }) => {
  const timed = arms.flatMap((arm) => {
    const turns = turnsOfArm(answered, arm.name);
    const own = turns.filter(({ observed }) => observed.ownMs !== undefined);
    return own.length === 0 ? [] : [{ arm, turns, own }];
  });
  if (timed.length === 0) return undecided('no turn was timed by the runner');
  const times = `own time, median: ${timed.map(({ arm, own }) => `${arm.name} ${median(own, ownMs).toFixed(2)} ms`).join(', ')}`;
  const outside = Object.entries(probes.refusedCalls ?? {}).filter(([, calls]) => calls > 0);
  if (outside.length > 0) {
    const refused = outside.map(([arm, calls]) => `${arm} (${calls} calls)`).join(', ');
    return fail(`work outside of turns was refused: ${refused}; ${times}`);
  }
  const missing = timed.flatMap(({ arm, turns }) => missingTimes(arm, turns));
  if (missing.length > 0) return fail(`${missing.join('; ')}; ${times}`);
  const limits = timed.flatMap(({ arm, turns, own }) => [ownTime(arm, own), ...stopwatchLimits(arm, turns)]);
  const exceeded = limits.filter(({ turns, reading, limit }) => turns.length > 0 && median(turns, reading) > limit);
  if (exceeded.length > 0) return judge(exceeded, times, probes);
  const most = Math.max(...timed.map(({ arm, own }) => ownTime(arm, own).limit));
  return pass(times, `a median of ${most.toFixed(1)} ms spent outside of calls`);
};

type Reading = (turn: AnsweredResult) => number;

/** A time of each turn of an arm, with its limit, ms. */
interface TimeLimit {
  readonly problem: string;
  readonly turns: Turns;
  readonly reading: Reading;
  readonly limit: number;
}

/** On a busy machine or for few turns, only limits that nine of ten turns exceed fail the check. */
function judge(exceeded: readonly TimeLimit[], times: string, { load }: CheckInput['probes']) {
  const { average, cores } = load ?? { average: 0, cores: 1 };
  const problems = exceeded.map(({ problem }) => problem).join('; ');
  const certain = exceeded.some(
    ({ turns, reading, limit }) => turns.length >= FEWEST_TURNS && lowest(turns, reading) > limit,
  );
  if (certain) return fail(`${problems}; ${times}`);
  const least = Math.min(...exceeded.map(({ turns }) => turns.length));
  if (least < MIN_TURNS) return undecided(`${problems}, in ${least} turns, ${MIN_TURNS} needed; ${times}`);
  return average > BUSY * cores
    ? undecided(`${problems}, on a busy machine (load ${average.toFixed(1)} on ${cores} cores); ${times}`)
    : fail(`${problems}; ${times}`);
}

const ownMs: Reading = ({ observed }) => observed.ownMs ?? 0;

function median(turns: Turns, reading: Reading): number {
  return quantiles(turns.map(reading)).p50;
}

function lowest(turns: Turns, reading: Reading): number {
  const sorted = turns.map(reading).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 10)]!;
}

function ownTime({ name, prefill = 'prefix' }: ArmTraits, turns: Turns): TimeLimit {
  const inCalls = turns.flatMap((turn) => {
    const firstToken = turn.observed.watch?.firstToken ?? null;
    return firstToken === null ? [] : firstToken - ownMs(turn);
  });
  const share = inCalls.length === 0 ? 0 : OWN_SHARE * quantiles(inCalls).p50;
  const joiningMs = ({ facts, account }: AnsweredResult): number => {
    const perMemory = JOINING_MS_PER_MEMORY + (account.cache === 'miss' ? BUILDING_MS_PER_MEMORY : 0);
    return prefill === 'prefix' ? 0 : JOINING_MS + perMemory * facts.retrievedMemories;
  };
  const perTurn = mean(
    turns.map((turn) => OWN_MS_PER_TOKEN * turn.facts.tokens + memoriesMs(turn.facts) + joiningMs(turn)),
  );
  const limit = Math.max(OWN_MS + perTurn, share);
  return { problem: `${name} spent over ${limit.toFixed(1)} ms outside of calls`, turns, reading: ownMs, limit };
}

function memoriesMs({ retrievedMemories }: AnsweredResult['facts']): number {
  return MS_PER_MEMORY * retrievedMemories;
}

/** Limits of the differences between stopwatches, engine time and phases. */
function stopwatchLimits({ name, retrieves }: ArmTraits, all: Turns): TimeLimit[] {
  const turns = all.filter(({ observed }) => observed.watch !== undefined);
  const generated = turns.filter(({ observed }) => observed.watch!.firstToken !== null);
  const isRetrieved = retrieves === 'retrieved' || retrieves === 'donor';
  const total: Reading = ({ timings, observed: { watch } }) =>
    timings.total - watch!.total - (isRetrieved ? watch!.retrieval : 0);
  const firstToken: Reading = ({ timings, observed: { watch } }) =>
    timings.firstToken - watch!.firstToken! - watch!.retrieval;
  const outer: Reading = ({ observed: { watch } }) => Math.abs(watch!.outer - watch!.total);
  const early: Reading = ({ observed: { watch } }) => (watch!.engine ?? 0) - watch!.firstToken!;
  const passOnMs = PASS_ON_MS + (turns.length === 0 ? 0 : mean(turns.map(({ facts }) => memoriesMs(facts))));
  const sum = 'of the stopwatch plus that of retrieval';
  const limit = BESIDE_MS;
  const limits = [
    ...near(`the total is not the time ${sum}`, turns, total, passOnMs),
    ...near(`the time to first token is not that ${sum}`, generated, firstToken, passOnMs),
    { problem: 'the stopwatch began late or ended early', turns, reading: outer, limit },
    { problem: 'the first token is timed before the engine generated it', turns: generated, reading: early, limit },
    ...[...Map.groupBy(turns, ({ account }) => account.cache).values()].flatMap(unphased),
  ];
  return limits.map((one) => ({ ...one, problem: `${name}: ${one.problem}` }));
}

/** A time may be `most` ms above 0, and as far below as two stopwatches differ. */
function near(problem: string, turns: Turns, reading: Reading, most: number): TimeLimit[] {
  return [
    { problem, turns, reading, limit: most },
    { problem, turns, reading: (turn) => -reading(turn), limit: BESIDE_MS },
  ];
}

/** Limits of the difference between the total and the sum of the phases, in both directions. */
function unphased(turns: Turns): TimeLimit[] {
  const rest: Reading = ({ timings: { retrieve, assemble, gate, kvLoad, kvCompute, prefill, decode, total } }) =>
    total - retrieve - assemble - gate - kvLoad - kvCompute - prefill - decode;
  const allowed = Math.max(UNPHASED_MS, UNPHASED_SHARE * median(turns, ({ timings }) => timings.total));
  return near('the phases do not sum to the total', turns, rest, allowed);
}

function missingTimes({ name }: ArmTraits, all: Turns): string[] {
  const turns = all.filter(({ observed }) => observed.watch !== undefined);
  const works: Readonly<Record<string, (turn: AnsweredResult) => boolean>> = {
    'loads KV': ({ account, prefill, timings }) => account.cache === 'hit' && prefill !== null && timings.kvLoad <= 0,
    'builds a prompt': ({ timings }) => timings.assemble <= 0,
  };
  const missing = Object.keys(works).filter((work) => turns.some(works[work]!));
  return missing.map((work) => `${name}: a turn that ${work} reports no time for it`);
}
