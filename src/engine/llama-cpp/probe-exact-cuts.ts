import { readFileSync } from 'node:fs';
import { SeededRandom } from '../../base/seeded-random.ts';
import type { CallOptions } from '../engine-session.ts';
import type { TokenId } from '../token-id.ts';
import type { NativeSequence } from './native-sequence.ts';

/** Rows that a matrix product takes together: 4 or 8 of repacked weights, 16 or 32 of tiles. */
const MULTIPLES = [1, 4, 8, 16, 32];
/** More than any of them, and a multiple of 8: every token of the uncut prompt is in a whole group of 4 or 8. */
const TEST_TOKENS = 40;
/** More than a batch: flash attention and accelerators take many rows together in another way than few. */
const LONG_TEST_TOKENS = 583;

interface Evaluation {
  /** Of the token behind the prompt. */
  readonly probabilities: ReadonlyMap<TokenId, number>;
  readonly state: Buffer;
}

interface TestSizes {
  readonly vocabularySize: number;
  /** Of a session. */
  readonly windowTokens: number;
  /** Tests a prompt of more than a batch. */
  readonly isLong: boolean;
  /** A file that does not exist yet; the caller deletes it. */
  readonly statePath: string;
}

/**
 * Finds out where a prompt may be cut into calls without a change of any bit. For some types of weights llama.cpp computes
 * rows in groups, and those that are left over by another kernel, in another order of sums (Q4_K on AVX2: groups of four): a token
 * that a cut leaves over gets other bits. Evaluates one prompt whole, twice, and cut at multiples of 1, 4, 8, 16 and 32, and
 * compares the keys and values of all layers, and the probabilities of the whole vocabulary. Probabilities alone would not do:
 * the next layer rounds its input to 8 bits, and a difference of a few tokens is often lost before the last one.
 * @param sequence an empty one
 * @returns the smallest multiple at which all cuts keep all bits; null where none does, and where the same prompt differs
 */
export async function probeExactCuts(
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

/** The first multiple, one in the middle and the last, with two tokens on each side. */
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
