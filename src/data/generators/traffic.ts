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
  const ranks = new RankSampler(traffic, random);
  const users = new Map<number, UserMemories>();
  const { order, arrivals, users: owners } = drawArrivals(traffic, random);
  const { retrieved, queryTokens, answerTokens, conversationTurns, headerTokens } = traffic;
  const turns = Array.from(order, (index) => {
    const conversation = Math.floor(index / conversationTurns);
    const owner = owners[conversation]!;
    const atMs = arrivals[index]! - arrivals[order[0]!]!;
    let user = users.get(owner);
    if (user === undefined) users.set(owner, (user = new UserMemories(traffic, random)));
    return {
      atMs,
      userId: `u${owner}`,
      conversationId: `c${conversation}`,
      segments: user.retrieve(ranks.draw(retrieved), atMs),
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

/** The memories of one user: their popularity ranks, and the present versions of their texts. */
class UserMemories {
  readonly #traffic: Traffic;
  readonly #random: SeededRandom;
  /** Number of the memory at each popularity rank. */
  readonly #byRank: Uint32Array;
  readonly #versions = new Map<number, number>();
  /** Segments of memories that have been retrieved and not changed since. */
  readonly #segments = new Map<number, TraceSegment>();
  #changedAtMs = 0;

  constructor(traffic: Traffic, random: SeededRandom) {
    this.#traffic = traffic;
    this.#random = random;
    this.#byRank = Uint32Array.from(random.shuffled([...Array(traffic.memories).keys()]));
  }

  retrieve(ranks: readonly number[], atMs: number): TraceSegment[] {
    this.#change((atMs - this.#changedAtMs) / DAY_MS);
    this.#changedAtMs = atMs;
    const memories = ranks.map((rank) => this.#byRank[rank]!);
    if (this.#traffic.order === 'stable') memories.sort((a, b) => a - b);
    return memories.map((memory) => this.#segment(memory));
  }

  /** Exchanges popularity ranks and changes texts, as many as are due after some days. */
  #change(days: number): void {
    const { memories, drift, edited } = this.#traffic;
    const any = (): number => this.#random.int(0, memories - 1);
    for (let swaps = this.#rounded((drift * memories * days) / 2); swaps > 0; swaps--) {
      const [a, b] = [any(), any()];
      [this.#byRank[a], this.#byRank[b]] = [this.#byRank[b]!, this.#byRank[a]!];
    }
    for (let edits = this.#rounded(edited * memories * days); edits > 0; edits--) {
      const memory = any();
      this.#versions.set(memory, (this.#versions.get(memory) ?? 0) + 1);
      this.#segments.delete(memory);
    }
  }

  /** A whole number whose mean is `expected`. */
  #rounded(expected: number): number {
    const whole = Math.floor(expected);
    return expected === whole || !this.#random.chance(expected - whole) ? whole : whole + 1;
  }

  #segment(memory: number): TraceSegment {
    const known = this.#segments.get(memory);
    if (known !== undefined) return known;
    const version = this.#versions.get(memory);
    const id = version === undefined ? `m${memory}` : `m${memory}.${version}`;
    const segment = { id, tokens: this.#traffic.memoryTokens };
    this.#segments.set(memory, segment);
    return segment;
  }
}

/** Draws distinct popularity ranks, from 0, by Zipf's law: a binary tree of sums, in which a drawn rank weighs nothing. */
class RankSampler {
  readonly #random: SeededRandom;
  /** Node 1 is the root, nodes 2n and 2n + 1 are below n, and the leaf of rank r is `#leaves` + r. */
  readonly #sums: Float64Array;
  readonly #leaves: number;
  readonly #weights: Float64Array;

  constructor({ memories, zipf }: Traffic, random: SeededRandom) {
    this.#random = random;
    this.#weights = Float64Array.from({ length: memories }, (_, rank) => (rank + 1) ** -zipf);
    this.#leaves = 2 ** Math.ceil(Math.log2(memories));
    this.#sums = new Float64Array(2 * this.#leaves);
    this.#sums.set(this.#weights, this.#leaves);
    for (let node = this.#leaves - 1; node > 0; node--) this.#add(node);
  }

  /** Ranks in the order in which they were drawn. */
  draw(number: number): number[] {
    const ranks = Array.from({ length: number }, () => {
      const rank = this.#drawOne();
      this.#set(rank, 0);
      return rank;
    });
    for (const rank of ranks) this.#set(rank, this.#weights[rank]!);
    return ranks;
  }

  #drawOne(): number {
    let left = this.#random.float() * this.#sums[1]!;
    let node = 1;
    while (node < this.#leaves) {
      node *= 2;
      // A sum may be rounded, so that nothing remains on the right although `left` says so.
      if (left < this.#sums[node]! || this.#sums[node + 1] === 0) continue;
      left -= this.#sums[node]!;
      node++;
    }
    return node - this.#leaves;
  }

  #set(rank: number, weight: number): void {
    let node = this.#leaves + rank;
    this.#sums[node] = weight;
    for (node >>= 1; node > 0; node >>= 1) this.#add(node);
  }

  #add(node: number): void {
    this.#sums[node] = this.#sums[2 * node]! + this.#sums[2 * node + 1]!;
  }
}
