/**
 * Cumulative counts of a session or engine; subtract two readings to measure calls. Null: unknown to the engine; 0 always means
 * zero.
 */
export interface TokenMeter {
  /** Prompt tokens that ran through the model. */
  readonly evaluated: number | null;
  /** Prompt tokens whose KV was already there. */
  readonly reused: number | null;
  /** Forward passes over one generated token each. */
  readonly decoded: number | null;
  /** Time inside the engine, in milliseconds. */
  readonly busyMs: number | null;
  /** Number of calls with unknown counts, such as failed ones; missing if 0. Differences spanning such a call are unknown. */
  readonly lost?: number;
}

export const zeroMeter: TokenMeter = { evaluated: 0, reused: 0, decoded: 0, busyMs: 0 };

export class TokenCounter {
  reading = zeroMeter;

  /** Missing counts are taken as 0. */
  add(counts: Partial<TokenMeter>): void {
    this.reading = meterSum(this.reading, { ...zeroMeter, ...counts });
  }

  /** Counts the time of a call, also if it fails. */
  async time<T>(call: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await call();
    } finally {
      this.add({ busyMs: performance.now() - start });
    }
  }
}

/** Counts between two readings; all null if the counts of a call in between were lost. */
export function meterDifference(after: TokenMeter, before: TokenMeter): TokenMeter {
  if ((after.lost ?? 0) !== (before.lost ?? 0)) return { evaluated: null, reused: null, decoded: null, busyMs: null };
  return combine(after, before, (x, y) => x - y);
}

export function meterSum(a: TokenMeter, b: TokenMeter): TokenMeter {
  const lost = (a.lost ?? 0) + (b.lost ?? 0);
  return { ...combine(a, b, (x, y) => x + y), ...(lost === 0 ? {} : { lost }) };
}

function combine(a: TokenMeter, b: TokenMeter, apply: (x: number, y: number) => number): TokenMeter {
  const field = (x: number | null, y: number | null): number | null => (x === null || y === null ? null : apply(x, y));
  return {
    evaluated: field(a.evaluated, b.evaluated),
    reused: field(a.reused, b.reused),
    decoded: field(a.decoded, b.decoded),
    busyMs: field(a.busyMs, b.busyMs),
  };
}
