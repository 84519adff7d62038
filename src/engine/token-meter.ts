/**
 * Cumulative counts of a session or of an engine; subtract two readings. Each is null where the engine does not know it, never
 * 0 in place of unknown.
 */
export interface TokenMeter {
  /** Prompt tokens that ran through the model. */
  readonly evaluated: number | null;
  /** Prompt tokens whose KV was there when a call needed them. */
  readonly reused: number | null;
  /** Passes over one generated token each. */
  readonly decoded: number | null;
  /** Milliseconds inside the engine. */
  readonly busyMs: number | null;
  /** Calls whose counts are unknown, such as failed ones; missing for none. A difference over such a call is unknown. */
  readonly lost?: number;
}

const zeroMeter: TokenMeter = { evaluated: 0, reused: 0, decoded: 0, busyMs: 0 };

export class TokenCounter {
  reading = zeroMeter;

  /** Counts that are missing are 0. */
  add(counts: Partial<TokenMeter>): void {
    this.reading = meterSum(this.reading, { ...zeroMeter, ...counts });
  }
}

/** The counts between two readings; unknown where a call in between was lost. */
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
