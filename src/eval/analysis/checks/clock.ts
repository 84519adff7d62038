import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { type Turns, turnsOfArm } from '../run-turns.ts';
import { mean } from '../statistics/observations.ts';
import { quantiles } from '../statistics/estimate.ts';
import { type Check, type CheckInput, decided, undecided } from './check.ts';

/** Own time that a system may take, more where it joins blocks and for each token of its prompt, ms; or this share of the engine's. */
const OWN_MS = 2;
const JOINING_MS = 2;
const OWN_MS_PER_TOKEN = 0.005;
/** For each memory that it was given, shown or not: sorted, labelled and handed on. */
const MS_PER_MEMORY = 0.005;
const OWN_SHARE = 0.02;
/** The median of fewer turns says too little: a few that waited for a core move it. */
const MIN_TURNS = 20;
/** Of fewer turns, even what all of them show decides nothing. */
const FEWEST_TURNS = 5;
/** Above this many runnable processes a core, waiting for a core looks like a system's own time. */
const BUSY = 1.5;
/** Two stopwatches that run beside each other differ by less, ms. */
const BESIDE_MS = 0.25;
/** A retrieval is handed on, and preferences are put in front of it, ms. */
const HANDED_ON_MS = 2;
/** Work of a turn that is in no phase, ms, and as a share. */
const UNPHASED_MS = 1;
const UNPHASED_SHARE = 0.02;

/**
 * Clock: times are those of the runner's stopwatch, which agrees with a second one, the engine's own time and the phases; no
 * system works outside its turns, or spends more outside calls than a prompt takes. Medians decide, or nine of ten turns.
 */
export const clock: Check = ({ arms, answered, probes }) => {
  const timed = arms.flatMap((arm) => {
    const turns = turnsOfArm(answered, arm.name);
    const own = turns.filter(({ observed }) => observed.ownMs !== undefined);
    return own.length === 0 ? [] : [{ arm, turns, own }];
  });
  if (timed.length === 0) return undecided('clock', 'no turn was timed by the runner');
  const times = `own time, median: ${timed.map(({ arm, own }) => `${arm.name} ${median(own, ownMs).toFixed(2)} ms`).join(', ')}`;
  const outside = Object.entries(probes.refusedCalls ?? {}).filter(([, calls]) => calls > 0);
  if (outside.length > 0) {
    const refused = outside.map(([arm, calls]) => `${arm} (${calls} calls)`).join(', ');
    return decided('clock', false, `work outside of turns was refused: ${refused}; ${times}`);
  }
  const missing = timed.flatMap(({ arm, turns }) => missingTimes(arm, turns));
  if (missing.length > 0) return decided('clock', false, `${missing.join('; ')}; ${times}`);
  const excesses = timed.flatMap(({ arm, turns, own }) => [ownTime(arm, own), ...contradictions(arm, turns)]);
  const found = excesses.filter(({ turns, reading, limit }) => turns.length > 0 && median(turns, reading) > limit);
  return found.length === 0 ? decided('clock', true, times) : judge(found, times, probes);
};

type Reading = (turn: AnsweredResult) => number;

/** A time of an arm's turns that should not be above a limit, ms. */
interface Excess {
  readonly words: string;
  readonly turns: Turns;
  readonly reading: Reading;
  readonly limit: number;
}

/** What excesses mean: on a busy machine, and in few turns, only those of nine of ten turns are certain. */
function judge(found: readonly Excess[], times: string, { load }: CheckInput['probes']) {
  const { average, cores } = load ?? { average: 0, cores: 1 };
  const words = found.map((excess) => excess.words).join('; ');
  const certain = found.some(
    ({ turns, reading, limit }) => turns.length >= FEWEST_TURNS && lowest(turns, reading) > limit,
  );
  if (certain) return decided('clock', false, `${words}; ${times}`);
  const least = Math.min(...found.map(({ turns }) => turns.length));
  if (least < MIN_TURNS) return undecided('clock', `${words}, by ${least} turns, ${MIN_TURNS} needed; ${times}`);
  return average > BUSY * cores
    ? undecided('clock', `${words}, on a busy machine (load ${average.toFixed(1)} on ${cores} cores); ${times}`)
    : decided('clock', false, `${words}; ${times}`);
}

const ownMs: Reading = ({ observed }) => observed.ownMs ?? 0;

function median(turns: Turns, reading: Reading): number {
  return quantiles(turns.map(reading)).p50;
}

function lowest(turns: Turns, reading: Reading): number {
  const sorted = turns.map(reading).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 10)]!;
}

function ownTime({ name, prefill = 'prefix' }: ArmTraits, turns: Turns): Excess {
  const engine = turns.flatMap(({ observed: { watch } }) => watch?.engine ?? []);
  const share = engine.length === 0 ? 0 : OWN_SHARE * quantiles(engine).p50;
  const base = OWN_MS + (prefill === 'prefix' ? 0 : JOINING_MS);
  const perTurn = mean(turns.map(({ facts }) => OWN_MS_PER_TOKEN * facts.tokens + memoriesMs(facts)));
  const limit = Math.max(base + perTurn, share);
  return { words: `${name} spent over ${limit.toFixed(1)} ms outside of calls`, turns, reading: ownMs, limit };
}

function memoriesMs({ retrievedMemories }: AnsweredResult['facts']): number {
  return MS_PER_MEMORY * retrievedMemories;
}

/** Contradictions among the times of an arm: what one stopwatch shows beyond another. */
function contradictions({ name, retrieves }: ArmTraits, all: Turns): Excess[] {
  const turns = all.filter(({ observed }) => observed.watch !== undefined);
  const generated = turns.filter(({ observed }) => observed.watch!.firstToken !== null);
  const isRetrieved = retrieves === 'retrieved' || retrieves === 'donor';
  const total: Reading = ({ timings, observed: { watch } }) =>
    timings.total - watch!.total - (isRetrieved ? watch!.retrieval : 0);
  const firstToken: Reading = ({ timings, observed: { watch } }) =>
    timings.firstToken - watch!.firstToken! - watch!.retrieval;
  const outer: Reading = ({ observed: { watch } }) => Math.abs(watch!.outer - watch!.total);
  const early: Reading = ({ observed: { watch } }) => (watch!.engine ?? 0) - watch!.firstToken!;
  const handedOnMs = HANDED_ON_MS + (turns.length === 0 ? 0 : mean(turns.map(({ facts }) => memoriesMs(facts))));
  const notTheTotal = 'the total is not that of the stopwatch and of the retrieval';
  const notTheFirst = 'the first token is not that of the stopwatch and of the retrieval';
  const excesses: [words: string, turns: Turns, reading: Reading, limit: number][] = [
    [notTheTotal, turns, total, handedOnMs],
    [notTheTotal, turns, negative(total), BESIDE_MS],
    [notTheFirst, generated, firstToken, handedOnMs],
    [notTheFirst, generated, negative(firstToken), BESIDE_MS],
    ['the stopwatch began late or ended early', turns, outer, BESIDE_MS],
    ['the first token came before the engine had made it', generated, early, BESIDE_MS],
    ...[...Map.groupBy(turns, ({ account }) => account.cache).values()].flatMap((group) => unphased(group)),
  ];
  return excesses.map(([words, of, reading, limit]) => ({ words: `${name}: ${words}`, turns: of, reading, limit }));
}

function negative(reading: Reading): Reading {
  return (turn) => -reading(turn);
}

/** What the total has beyond all phases, and what they have beyond it. */
function unphased(turns: Turns): [string, Turns, Reading, number][] {
  const rest: Reading = ({ timings: { retrieve, assemble, gate, kvLoad, kvCompute, prefill, decode, total } }) =>
    total - retrieve - assemble - gate - kvLoad - kvCompute - prefill - decode;
  const allowed = Math.max(UNPHASED_MS, UNPHASED_SHARE * median(turns, ({ timings }) => timings.total));
  const words = 'the phases do not sum to the total';
  return [
    [words, turns, rest, allowed],
    [words, turns, negative(rest), BESIDE_MS],
  ];
}

function missingTimes({ name }: ArmTraits, all: Turns): string[] {
  const turns = all.filter(({ observed }) => observed.watch !== undefined);
  const loads = ({ account, prefill }: AnsweredResult): boolean => account.cache === 'hit' && prefill !== null;
  return [
    ...(turns.some((turn) => loads(turn) && turn.timings.kvLoad <= 0)
      ? [`${name}: a turn that loads KV has no time for it`]
      : []),
    ...(turns.some(({ timings }) => timings.assemble <= 0)
      ? [`${name}: a turn that builds a prompt has no time for it`]
      : []),
  ];
}
