import type { Grammar } from '../../config/grammar.ts';
import type { SeededRandom } from '../random.ts';
import { drawn, isHeldOutValue } from './held-out.ts';

/** Draws one value of a kind, from the held-out tenth or from the rest. */
export type ValueSource = (random: SeededRandom, heldOut: boolean) => string;

export const DIGITS = [...'0123456789'];
export const LETTERS = [...'ABCDEFGHJKLMNPQRSTUVWXYZ'];

export function repeated(random: SeededRandom, alphabet: readonly string[], low: number, high: number): string {
  return Array.from({ length: random.int(low, high) }, () => random.pick(alphabet)).join('');
}

/** Real words of the kind now and then, so that the model does not see nonce words alone. */
export function realOr(
  { values }: Grammar,
  kind: string,
  share: number,
  nonce: (random: SeededRandom) => string,
): ValueSource {
  const real = values[kind]?.real ?? [];
  const sides = {
    heldOut: real.filter((value) => isHeldOutValue(value)),
    known: real.filter((value) => !isHeldOutValue(value)),
  };
  return (random, heldOut) => {
    const list = heldOut ? sides.heldOut : sides.known;
    if (list.length > 0 && random.chance(heldOut ? 0.05 : share)) return random.pick(list);
    return drawn(heldOut, () => nonce(random));
  };
}

/** Made-up values alone. */
export function fresh(draw: (random: SeededRandom) => string): ValueSource {
  return (random, heldOut) => drawn(heldOut, () => draw(random));
}
