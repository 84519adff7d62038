import { readFileSync } from 'node:fs';
import { SeededRandom } from '../../base/seeded-random.ts';
import type { CallOptions } from '../engine-session.ts';
import type { TokenId } from '../token-id.ts';
import type { NativeSequence } from './native-sequence.ts';

/** Numbers of rows that matrix kernels process together: 4 or 8 with repacked weights, 16 or 32 with tiles. */
const MULTIPLES = [1, 4, 8, 16, 32];
/** More than the largest multiple, and divisible by 8, so that all tokens of the uncut prompt are in whole groups of 4 or 8. */
const TEST_TOKENS = 40;
/** More than a batch: flash attention and accelerators use other kernels for many rows than for few. */
const LONG_TEST_TOKENS = 583;

interface Evaluation {
  /** Distribution after the prompt. */
  readonly probabilities: ReadonlyMap<TokenId, number>;
  readonly state: Buffer;
}

export interface TestSizes {
  readonly vocabularySize: number;
  readonly windowTokens: number;
  /** Tests a prompt longer than a batch. */
  readonly isLong: boolean;
  /** Path for a temporary file, which the caller deletes. */
  readonly statePath: string;
}

/**
 * Finds out where a prompt can be cut into calls without changing any bit. For some weight types, llama.cpp computes rows in
 * groups and the remaining rows with another kernel, which sums in another order (Q4_K on AVX2: groups of four). So tokens before
 * a cut may get other bits. Evaluates one prompt twice uncut, and cut at multiples of 1, 4, 8, 16 and 32. Compares KV of all
 * layers and probabilities of the whole vocabulary. Probabilities alone are not enough: each layer rounds its input to 8 bits,
 * so a difference in a few tokens is often lost before the last layer.
 * @param sequence must be empty
 * @returns the smallest multiple at which no cut changes a bit; null if there is none, or if the two uncut evaluations differ
 */
export async function probeExactPromptCuts(
  sequence: Pick<NativeSequence, 'prefill' | 'probabilities' | 'save' | 'truncate'>,
  { vocabularySize, windowTokens, isLong, statePath }: TestSizes,
  { signal }: CallOptions,
): Promise<number | null> {
  const random = new SeededRandom(1);
  const length = Math.min(isLong ? LONG_TEST_TOKENS : TEST_TOKENS, windowTokens - 1);
  const tokens = Array.from({ length }, () => random.int(0, vocabularySize - 1));
  const evaluate = async (cut: number): Promise<Evaluation> => {
    signal?.throwIfAborted();
    await sequence.truncate(0);
    if (cut > 0) await sequence.prefill(tokens.slice(0, cut));
    const [probabilities] = await sequence.probabilities(tokens.slice(cut), 1);
    await sequence.save(statePath);
    return { probabilities: probabilities!, state: readFileSync(statePath) };
  };
  const whole = await evaluate(0);
  const keepsBits = async (cuts: readonly number[]): Promise<boolean> => {
    for (const cut of cuts) if (!sameBits(whole, await evaluate(cut))) return false;
    return true;
  };
  if (!(await keepsBits([0]))) return null;
  for (const multiple of MULTIPLES) {
    const cuts = cutPlaces(multiple, length);
    if (cuts.length > 0 && (await keepsBits(cuts))) return multiple;
  }
  return null;
}

/** The first, a middle and the last multiple with at least two tokens on each side. */
function cutPlaces(multiple: number, length: number): number[] {
  const places = Array.from({ length: Math.floor((length - 2) / multiple) }, (_, index) => (index + 1) * multiple);
  const allowed = places.filter((place) => place >= 2);
  const chosen = [0, 0.5, 1].flatMap((share) => allowed[Math.floor(share * (allowed.length - 1))] ?? []);
  return [...new Set(chosen)];
}

function sameBits(a: Evaluation, b: Evaluation): boolean {
  return (
    a.state.equals(b.state) && [...a.probabilities].every(([token, value]) => b.probabilities.get(token) === value)
  );
}
