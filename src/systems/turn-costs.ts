import type { Generation } from '../engine/engine-session.ts';
import type { TokenMeter } from '../engine/token-meter.ts';
import type { Timings } from '../store/records/timings.ts';
import type { TokenCounts } from '../store/records/token-counts.ts';
import type { TurnAccount } from '../store/records/turn-account.ts';
import type { Prefilled } from './prefill/prefill-strategy.ts';
import type { BuiltPrompt } from './prompt/build-prompt.ts';

/** The result of an action and its milliseconds; exactly 0 where there is none. */
export async function timed<T>(
  action: (() => Promise<T>) | undefined,
): Promise<{ readonly value: T | undefined; readonly ms: number }> {
  if (action === undefined) return { value: undefined, ms: 0 };
  const start = performance.now();
  const value = await action();
  return { value, ms: performance.now() - start };
}

/** The times of a turn, by phase. */
export function timingsOf(
  before: Pick<Timings, 'retrieve' | 'gate' | 'assemble'>,
  { kvLoadMs, kvComputeMs }: Prefilled,
  { firstTokenMs, decodeMs }: Generation,
  after: { readonly keepMs: number; readonly answerMs: number },
): Timings {
  const beforeMs = before.retrieve + before.gate + before.assemble;
  return {
    ...before,
    kvLoad: kvLoadMs,
    kvCompute: kvComputeMs + after.keepMs,
    prefill: firstTokenMs,
    firstToken: beforeMs + kvLoadMs + kvComputeMs + firstTokenMs,
    decode: decodeMs,
    total: beforeMs + after.answerMs,
  };
}

/** The tokens of a turn. */
export function countTokens(
  prompt: BuiltPrompt,
  { cache, resident, positions }: TurnAccount,
  { evaluated }: TokenMeter,
  { tokens }: Generation,
): TokenCounts {
  const injected = cache === 'bypass' ? 0 : prompt.prefixTokens;
  return {
    prompt: prompt.tokenIds.length - injected,
    kvResident: resident,
    evaluated: evaluated ?? Number.NaN,
    generated: tokens.length,
    positions,
  };
}
