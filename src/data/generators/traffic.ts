import { z } from 'zod';
import { SeededRandom } from '../../base/seeded-random.ts';
import type { Trace, TraceSegment } from '../../kv/traffic/trace.ts';

const count = z.number().int().positive();
const tokens = z.number().int().nonnegative();
const share = z.number().min(0).max(1);

/** Properties of generated traffic. */
export const trafficSchema = z
  .strictObject({
    /** All users ask equally often. */
    users: count.default(100),
    /** Memories of a user, all of the same length. */
    memories: count.default(200),
    memoryTokens: count.default(50),
    /** Memories in a prompt. */
    retrieved: count.default(5),
    /** Exponent of Zipf's law: a user's memory of popularity rank r is retrieved in proportion to 1/r^zipf. */
    zipf: z.number().nonnegative().default(1),
    /** Share of the popularity ranks of a user that go to another memory in a day. */
    drift: share.default(0),
    /** Share of a user's memories whose text changes in a day. */
    edited: share.default(0),
    /** Order of memories in the prompt: as they were drawn, popular ones mostly first, or by their numbers, which never change. */
    order: z.enum(['rank', 'stable']).default('rank'),
    turns: count.default(10_000),
    /** Turns of a conversation, a minute apart on average. */
    conversationTurns: count.default(5),
    /** Mean turns of one user in a day. */
    turnsPerDay: z.number().positive().default(10),
    headerTokens: tokens.default(40),
    queryTokens: tokens.default(24),
    answerTokens: tokens.default(100),
    seed: tokens.default(7),
  })
  .refine(({ retrieved, memories }) => retrieved <= memories, {
    path: ['retrieved'],
    message: 'expected at most as many memories as a user has',
  });

export type Traffic = Readonly<z.output<typeof trafficSchema>>;

const DAY_MS = 86_400_000;
const MEAN_PAUSE_MS = 60_000;

/** Generates traffic: conversations of random users begin as a Poisson process. The same seed gives the same trace. */
export function generateTraffic(traffic: Traffic): Trace {
  const random = new SeededRandom(traffic.seed);
  const drawRanks = rankSampler(traffic, random);
  const users = new Map<number, ReturnType<typeof userMemories>>();
  const { order, arrivals, users: owners } = drawArrivals(traffic, random);
  const { queryTokens, answerTokens, conversationTurns, headerTokens } = traffic;
  const turns = Array.from(order, (index) => {
    const conversation = Math.floor(index / conversationTurns);
    const owner = owners[conversation]!;
    const atMs = arrivals[index]! - arrivals[order[0]!]!;
    const retrieve = users.get(owner) ?? userMemories(traffic, random);
    users.set(owner, retrieve);
    return {
      atMs,
      userId: `u${owner}`,
      conversationId: `c${conversation}`,
      segments: retrieve(drawRanks(), atMs),
      queryTokens,
      answerTokens,
    };
  });
  return { name: `generated, seed ${traffic.seed}`, headerTokens, idsOf: 'text', turns };
}

/** Arrivals in ms by turn, turns of a conversation in a row; the turns in the order of arrival; users by conversation. */
function drawArrivals({ turns, users, turnsPerDay, conversationTurns }: Traffic, random: SeededRandom) {
  const exponential = (meanMs: number): number => -Math.log(1 - random.float()) * meanMs;
  const meanGapMs = (DAY_MS / (users * turnsPerDay)) * conversationTurns;
  const arrivals = new Float64Array(turns);
  const owners = new Uint32Array(Math.ceil(turns / conversationTurns));
  let start = 0;
  for (let conversation = 0; conversation < owners.length; conversation++) {
    owners[conversation] = random.int(0, users - 1);
    start += exponential(meanGapMs);
    let at = start;
    const first = conversation * conversationTurns;
    for (let turn = first; turn < Math.min(turns, first + conversationTurns); turn++) {
      arrivals[turn] = at;
      at += exponential(MEAN_PAUSE_MS);
    }
  }
  const order = Uint32Array.from({ length: turns }, (_, turn) => turn).sort((a, b) => arrivals[a]! - arrivals[b]!);
  return { order, arrivals, users: owners };
}

/**
 * The memories of one user: their popularity ranks, and the present versions of their texts.
 * @returns a function that retrieves the memories of some ranks, at a time that never decreases
 */
function userMemories({ memories, memoryTokens, drift, edited, order }: Traffic, random: SeededRandom) {
  /** Number of the memory at each popularity rank. */
  const byRank = random.shuffled([...Array(memories).keys()]);
  const versions = new Map<number, number>();
  let changedAtMs = 0;
  const drawMemory = (): number => random.int(0, memories - 1);

  /** A whole number whose mean is `expected`. */
  function rounded(expected: number): number {
    const whole = Math.floor(expected);
    return expected === whole || !random.chance(expected - whole) ? whole : whole + 1;
  }

  return (ranks: readonly number[], atMs: number): TraceSegment[] => {
    const days = (atMs - changedAtMs) / DAY_MS;
    changedAtMs = atMs;
    for (let swaps = rounded((drift * memories * days) / 2); swaps > 0; swaps--) {
      const [a, b] = [drawMemory(), drawMemory()];
      [byRank[a], byRank[b]] = [byRank[b]!, byRank[a]!];
    }
    for (let edits = rounded(edited * memories * days); edits > 0; edits--) {
      const memory = drawMemory();
      versions.set(memory, (versions.get(memory) ?? 0) + 1);
    }
    const retrieved = ranks.map((rank) => byRank[rank]!);
    if (order === 'stable') retrieved.sort((a, b) => a - b);
    return retrieved.map((memory) => {
      const version = versions.get(memory);
      return { id: version === undefined ? `m${memory}` : `m${memory}.${version}`, tokens: memoryTokens };
    });
  };
}

/**
 * Draws distinct popularity ranks, from 0, by Zipf's law: a binary tree of sums, in which a drawn rank weighs nothing.
 * @returns a function that draws the ranks of one turn, in the order in which they are drawn
 */
function rankSampler({ memories, zipf, retrieved }: Traffic, random: SeededRandom): () => number[] {
  const leaves = 2 ** Math.ceil(Math.log2(memories));
  /** Node 1 is the root, nodes 2n and 2n + 1 are below n, and the leaf of rank r is `leaves` + r. */
  const sums = new Float64Array(2 * leaves);

  function weigh(rank: number, weight = (rank + 1) ** -zipf): void {
    let node = leaves + rank;
    sums[node] = weight;
    for (node >>= 1; node > 0; node >>= 1) sums[node] = sums[2 * node]! + sums[2 * node + 1]!;
  }

  function drawOne(): number {
    let left = random.float() * sums[1]!;
    let node = 1;
    while (node < leaves) {
      node *= 2;
      // A sum may be rounded, so that nothing remains on the right although `left` says so.
      if (left < sums[node]! || sums[node + 1] === 0) continue;
      left -= sums[node]!;
      node++;
    }
    weigh(node - leaves, 0);
    return node - leaves;
  }

  for (let rank = 0; rank < memories; rank++) weigh(rank);
  return () => {
    const ranks = Array.from({ length: retrieved }, drawOne);
    for (const rank of ranks) weigh(rank);
    return ranks;
  };
}
