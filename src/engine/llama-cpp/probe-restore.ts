import { SeededRandom } from '../../base/seeded-random.ts';
import type { CallOptions } from '../engine-session.ts';
import type { NativeSequence } from './native-sequence.ts';
import type { TestSizes } from './probe-exact-prompt-cuts.ts';

const PREFIX_TOKENS = 24;
const SUFFIX_TOKENS = 8;
/** Allowed difference of a probability. Larger than the noise of accelerators, smaller than that of a missing prefix. */
const TOLERANCE = 0.01;

/**
 * Tries if a sequence can be saved, restored and continued with the probabilities that it had before. Without the prefix they must
 * differ, else the test proves nothing and counts as failed.
 * @param sequence is emptied
 * @returns the reason why not, in one line; null if it can
 */
export async function probeRestore(
  sequence: Pick<NativeSequence, 'prefill' | 'probabilities' | 'save' | 'load' | 'truncate'>,
  { vocabularySize, windowTokens, statePath }: Omit<TestSizes, 'isLong'>,
  { signal }: CallOptions,
): Promise<string | null> {
  if (windowTokens <= PREFIX_TOKENS + SUFFIX_TOKENS) return 'its window is too short to try saved states';
  const random = new SeededRandom(2);
  const draw = (length: number) => Array.from({ length }, () => random.int(0, vocabularySize - 1));
  const [prefix, suffix] = [draw(PREFIX_TOKENS), draw(SUFFIX_TOKENS)];
  const continued = async () => {
    signal?.throwIfAborted();
    const [probabilities] = await sequence.probabilities(suffix, 1);
    return probabilities!;
  };
  await sequence.truncate(0);
  await sequence.prefill(prefix);
  try {
    await sequence.save(statePath);
    const evaluated = await continued();
    await sequence.truncate(0);
    const alone = await continued();
    await sequence.truncate(0);
    await sequence.load(statePath);
    const restored = await continued();
    if (!(difference(evaluated, restored) <= TOLERANCE)) return 'llama.cpp continues its saved states differently';
    return difference(evaluated, alone) > 0 ? null : 'its probabilities do not depend on the text before';
  } catch (error) {
    signal?.throwIfAborted();
    return `llama.cpp cannot save and restore its state: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function difference(a: ReadonlyMap<number, number>, b: ReadonlyMap<number, number>): number {
  return [...a].reduce((most, [token, value]) => Math.max(most, Math.abs(value - (b.get(token) ?? NaN))), 0);
}
