import { quantileSorted } from 'simple-statistics';
import type { Trace } from '../../../kv/traffic/trace.ts';
import { type AccessCosts, firstTokenMs } from '../../../systems/simulator/access-costs.ts';
import {
  openSimulatedArm,
  prefixCacheWithDisk,
  type SimulatedArmName,
  simulatedArmNames,
} from '../../../systems/simulator/simulated-arms.ts';
import {
  type CacheStats,
  evaluatedTokens,
  noAccess,
  promptShapes,
  type SimulatedMachine,
  type TurnAccess,
} from '../../../systems/simulator/simulated-turn.ts';

/** What one arm would do with the traffic. */
export interface ArmEstimate {
  readonly arm: SimulatedArmName;
  /** What it looks up: nothing, the beginning of the prompt, or each memory. */
  readonly reuses: 'nothing' | 'prefixes' | 'blocks';
  /** Times to the first token, in ms, at 0, 1, … 100 % of the turns. */
  readonly percentilesMs: readonly number[];
  readonly meanMs: number;
  /** Means of a turn: tokens evaluated, and KV found in memory and on disk. */
  readonly perTurn: Readonly<Record<'evaluated' | 'memory' | 'disk', number>>;
  /** Share of the turns that found all they looked for; for a prefix cache, anything. */
  readonly hitRate: number;
  readonly readBytes: number;
  readonly stored: CacheStats;
  /** Number, from 1, of the turn from which on the cumulative time stays below that of text; null if never. */
  readonly paysFromTurn: number | null;
}

const REUSES: Readonly<Record<string, ArmEstimate['reuses']>> = {
  rag: 'nothing',
  'dki-blocks': 'blocks',
  'dki-blocks@context=previous': 'blocks',
};

/** Arms that can be estimated from the trace: only text and prefix caches if its ids stand for prefixes. */
function estimableArms(
  { idsOf }: Pick<Trace, 'idsOf'>,
  { diskBytes }: Pick<SimulatedMachine, 'diskBytes'>,
): readonly SimulatedArmName[] {
  const arms = idsOf === 'text' ? simulatedArmNames : (['rag', 'rag-cached'] as const);
  return arms.flatMap((arm) => (arm === 'rag-cached' && diskBytes > 0 ? [arm, prefixCacheWithDisk] : [arm]));
}

/** Simulates what each arm finds in its caches, and computes the times of turns, which never wait for each other. */
export async function estimateTraffic(
  trace: Trace,
  machine: SimulatedMachine,
  costs: AccessCosts,
): Promise<ArmEstimate[]> {
  const estimates: ArmEstimate[] = [];
  let textMs: Float64Array | undefined;
  for (const arm of estimableArms(trace, machine)) {
    const { ms, ...estimate } = await simulate(arm, trace, machine, costs);
    textMs ??= ms;
    estimates.push({ ...estimate, paysFromTurn: firstCheaperTurn(ms, textMs) });
  }
  return estimates;
}

async function simulate(arm: SimulatedArmName, trace: Trace, machine: SimulatedMachine, costs: AccessCosts) {
  const simulated = openSimulatedArm(arm, machine);
  const ms = new Float64Array(trace.turns.length);
  const sums = { evaluated: 0, memory: 0, disk: 0 };
  let [turn, hits, readBytes] = [0, 0, 0];
  for (const prompt of promptShapes(trace)) {
    const access: TurnAccess = await simulated.answer(prompt);
    ms[turn++] = firstTokenMs(access, costs);
    sums.evaluated += evaluatedTokens(access);
    sums.memory += access.memory.tokens;
    sums.disk += access.disk.tokens;
    hits += Number(access.hit);
    readBytes += access.disk.bytes;
  }
  const sorted = [...ms.toSorted()];
  const { evaluated, memory, disk } = sums;
  return {
    arm,
    reuses: REUSES[arm] ?? 'prefixes',
    ms,
    percentilesMs: Array.from({ length: 101 }, (_, percent) => quantileSorted(sorted, percent / 100)),
    meanMs: ms.reduce((sum, one) => sum + one, 0) / turn,
    perTurn: { evaluated: evaluated / turn, memory: memory / turn, disk: disk / turn },
    hitRate: hits / turn,
    readBytes,
    stored: simulated.stats(),
  };
}

/** The turn after the last one at which the cumulative time was not below that of text. */
function firstCheaperTurn(ms: Float64Array, textMs: Float64Array): number | null {
  let [saved, lastAbove] = [0, 0];
  for (const [index, one] of ms.entries()) {
    saved += textMs[index]! - one;
    if (saved <= 0) lastAbove = index + 1;
  }
  return lastAbove === ms.length ? null : lastAbove + 1;
}

/** When bringing KV from a tier takes less time than evaluating its tokens. */
export interface BreakEven {
  /** The least number of tokens; null if there is none up to 131,072. */
  readonly tokens: Readonly<Record<'memory' | 'disk', number | null>>;
  /** The speed of a disk at which reading the KV of a prompt of mean length takes as long as evaluating it; null if none is fast enough. */
  readonly readBytesPerSecond: number | null;
}

/** Tokens that are evaluated after the KV, or after its text. */
const QUERY_TOKENS = 24;
const LONGEST = 2 ** 17;

/** @param meanTokens of a prompt */
export function breakEven(
  { kvBytes, fileBytes }: Pick<SimulatedMachine, 'kvBytes' | 'fileBytes'>,
  costs: AccessCosts,
  meanTokens: number,
): BreakEven {
  const none = noAccess();
  /** Time that KV of some tokens saves if it only has to be copied. */
  const savedMs = (tokens: number): number =>
    firstTokenMs({ ...none, evaluations: [{ tokens: tokens + QUERY_TOKENS, behind: 0 }] }, costs) -
    firstTokenMs({ ...none, evaluations: [{ tokens: QUERY_TOKENS, behind: tokens }] }, costs) -
    firstTokenMs({ ...none, importedBytes: kvBytes(tokens) }, costs);
  const readMs = (tokens: number): number =>
    firstTokenMs({ ...none, disk: { tokens, bytes: fileBytes(tokens), parts: 1 } }, costs);
  const first = (pays: (tokens: number) => boolean): number | null => {
    for (let tokens = 1; tokens <= LONGEST; tokens++) if (pays(tokens)) return tokens;
    return null;
  };
  const mean = Math.max(1, Math.round(meanTokens));
  const saved = savedMs(mean);
  return {
    tokens: {
      memory: first((tokens) => savedMs(tokens) > 0),
      disk: first((tokens) => savedMs(tokens) > readMs(tokens)),
    },
    readBytesPerSecond: saved <= 0 ? null : (1000 * fileBytes(mean)) / saved,
  };
}

/** Traffic in numbers. */
export type TraceSummary = ReturnType<typeof summariseTrace>;

/** @param kvBytesPerToken of the model @throws RangeError for a trace without turns */
export function summariseTrace({ turns, name, idsOf, headerTokens }: Trace, kvBytesPerToken: number) {
  if (turns.length === 0) throw new RangeError(`trace ${name} has no turns`);
  const known = new Map<string, Set<string>>();
  const conversations = new Set<string>();
  let [tokens, shown, distinct, distinctTokens] = [0, 0, 0, headerTokens];
  for (const { userId, conversationId, segments, queryTokens } of turns) {
    conversations.add(conversationId);
    let own = known.get(userId);
    if (own === undefined) known.set(userId, (own = new Set()));
    tokens += headerTokens + queryTokens;
    shown += segments.length;
    for (const segment of segments) {
      tokens += segment.tokens;
      if (own.has(segment.id)) continue;
      own.add(segment.id);
      distinct++;
      distinctTokens += segment.tokens;
    }
  }
  return {
    name,
    idsOf,
    // Segments are distinct memories of users; tokens are those of all prompts.
    counts: { turns: turns.length, users: known.size, conversations: conversations.size, segments: distinct, tokens },
    // From the first arrival to the last.
    durationMs: turns.at(-1)!.atMs,
    meanPromptTokens: tokens / turns.length,
    // Share of the segments of all prompts that the user had in an earlier prompt.
    repeatedShare: shown === 0 ? 0 : 1 - distinct / shown,
    // KV of the header and of all distinct segments, one copy each.
    workingSetBytes: distinctTokens * kvBytesPerToken,
  };
}
