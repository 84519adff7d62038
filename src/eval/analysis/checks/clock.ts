import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { type Turns, turnsOfArm } from '../arm-turns.ts';
import { mean } from '../statistics/observations.ts';
import { quantiles } from '../statistics/quantile.ts';
import { type Check, type CheckInput, decided, undecided } from './check.ts';

/** Own time that a system may take, more where it joins blocks and for each token of its prompt, ms; or this share of the engine's. */
const OWN_MS = 2;
const JOINING_MS = 2;
const OWN_MS_PER_TOKEN = 0.005;
const OWN_SHARE = 0.02;
/** The median of fewer turns says too little: a few that waited for a core move it. */
const LEAST_TURNS = 20;
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
 * Clock: the time to the first token and the total are those of the runner's stopwatch, which agrees with a second one, with the
 * engine's own time and with the sum of the phases. Outside calls of engine, store and memories, no system, the baseline's included,
 * spends more of it than building a prompt takes, by the median of 20 turns or more; and no system works outside its turns.
 */
export const clock: Check = (input) => {
  const { arms, answered, probes } = input;
  const measured = arms.flatMap((arm) => {
    const { name } = arm;
    const turns = turnsOfArm(answered, name).filter(({ observed }) => observed.ownMs !== undefined);
    return turns.length === 0 ? [] : [{ arm: name, turns, ms: median(turns, ownMs), limit: ownLimit(arm, turns) }];
  });
  if (measured.length === 0) return undecided('clock', 'no turn was timed by the runner');
  const times = `own time, median: ${measured.map(({ arm, ms }) => `${arm} ${ms.toFixed(2)} ms`).join(', ')}`;
  const outside = Object.entries(probes.refusedCalls ?? {}).filter(([, calls]) => calls > 0);
  if (outside.length > 0) {
    const refused = outside.map(([arm, calls]) => `${arm} (${calls} calls)`).join(', ');
    return decided('clock', false, `work outside of turns was refused: ${refused}; ${times}`);
  }
  const wrong = arms.flatMap((arm) => wrongTimes(arm, turnsOfArm(answered, arm.name)));
  if (wrong.length > 0) return decided('clock', false, `${wrong.join('; ')}; ${times}`);
  const slow = measured.filter(({ ms, limit }) => ms > limit);
  if (slow.length === 0) return decided('clock', true, times);
  return slowness(slow, times, probes);
};

interface MeasuredArm {
  readonly arm: string;
  readonly turns: Turns;
  readonly limit: number;
}

/** What arms that spend too much time of their own mean: on a busy machine only what nine of ten turns show. */
function slowness(slow: readonly MeasuredArm[], times: string, { load }: CheckInput['probes']) {
  const { average, cores } = load ?? { average: 0, cores: 1 };
  const found = `${slow.map(({ arm, limit }) => `${arm} spent over ${limit.toFixed(1)} ms`).join(', ')} outside of calls`;
  const certain = slow.some(({ turns, limit }) => turns.length >= LEAST_TURNS && lowest(turns, ownMs) > limit);
  if (certain) return decided('clock', false, `${found}; ${times}`);
  const least = Math.min(...slow.map(({ turns }) => turns.length));
  if (least < LEAST_TURNS) return undecided('clock', `${found}, by ${least} turns, ${LEAST_TURNS} needed; ${times}`);
  return average > BUSY * cores
    ? undecided('clock', `${found}, on a busy machine (load ${average.toFixed(1)} on ${cores} cores); ${times}`)
    : decided('clock', false, `${found}; ${times}`);
}

type Reading = (turn: AnsweredResult) => number | null;

const ownMs: Reading = ({ observed }) => observed.ownMs ?? null;

function values(turns: Turns, reading: Reading): number[] {
  return turns.flatMap((turn) => reading(turn) ?? []);
}

function median(turns: Turns, reading: Reading): number {
  return quantiles(values(turns, reading)).p50;
}

/** The value that nine of ten turns exceed. */
function lowest(turns: Turns, reading: Reading): number {
  const sorted = values(turns, reading).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 10)]!;
}

/** The own time that prompts of that length take an arm at most, ms. */
function ownLimit({ prefill = 'prefix' }: ArmTraits, turns: Turns): number {
  const engine = values(turns, ({ observed: { watch } }) => watch?.engine ?? null);
  const share = engine.length === 0 ? 0 : OWN_SHARE * quantiles(engine).p50;
  const base = OWN_MS + (prefill === 'prefix' ? 0 : JOINING_MS);
  return Math.max(base + OWN_MS_PER_TOKEN * mean(turns.map(({ facts }) => facts.tokens)), share);
}

/** Contradictions among the times of an arm, in words. */
function wrongTimes({ name, retrieves }: ArmTraits, all: Turns): string[] {
  const turns = all.filter(({ observed }) => observed.watch !== undefined);
  if (turns.length === 0) return [];
  const by = (reading: Reading): number | null => {
    const found = values(turns, reading);
    return found.length === 0 ? null : quantiles(found).p50;
  };
  const isRetrieved = retrieves === 'retrieved' || retrieves === 'donor';
  const beside = (ms: number | null): boolean => ms !== null && Math.abs(ms) > BESIDE_MS;
  const handedOn = (ms: number | null): boolean => ms !== null && (ms < -BESIDE_MS || ms > HANDED_ON_MS);
  const watched: Readonly<Record<string, boolean>> = {
    'the total is not that of the stopwatch and of the retrieval': handedOn(
      by(({ timings, observed: { watch } }) => timings.total - watch!.total - (isRetrieved ? watch!.retrieval : 0)),
    ),
    'the first token is not that of the stopwatch and of the retrieval': handedOn(
      by(({ timings, observed: { watch } }) =>
        watch!.firstToken === null ? null : timings.firstToken - watch!.firstToken - watch!.retrieval,
      ),
    ),
    'the stopwatch began late or ended early': beside(by(({ observed: { watch } }) => watch!.outer - watch!.total)),
    'the first token came before the engine had made it':
      (by(({ observed: { watch } }) => (watch!.firstToken ?? Infinity) - (watch!.engine ?? 0)) ?? 0) < -BESIDE_MS,
    'the phases do not sum to the total': turnsByCache(turns).some(isUnphased),
    'a turn that loads KV has no time for it': turns.some(
      ({ account, timings, prefill }) => account.cache === 'hit' && prefill !== null && timings.kvLoad <= 0,
    ),
    'a turn that builds a prompt has no time for it': turns.some(({ timings }) => timings.assemble <= 0),
  };
  return Object.entries(watched).flatMap(([words, is]) => (is ? [`${name}: ${words}`] : []));
}

function turnsByCache(turns: Turns): Turns[] {
  return [...Map.groupBy(turns, ({ account }) => account.cache).values()];
}

/** True if the total of nine in ten turns is longer than all their phases, or shorter. */
function isUnphased(turns: Turns): boolean {
  const rest: Reading = ({ timings: { retrieve, assemble, gate, kvLoad, kvCompute, prefill, decode, total } }) =>
    total - retrieve - assemble - gate - kvLoad - kvCompute - prefill - decode;
  const allowed = Math.max(UNPHASED_MS, UNPHASED_SHARE * median(turns, ({ timings }) => timings.total));
  return lowest(turns, rest) > allowed || median(turns, rest) < -BESIDE_MS;
}
