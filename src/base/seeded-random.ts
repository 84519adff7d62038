import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';

/**
 * Spreads a seed over 32 bits, one to one. Without it small seeds would give nearly the same first number, since the generator
 * takes it straight from the seed's bits. @see Appleby, MurmurHash3, the finaliser
 */
function spreadBits(seed: number): number {
  let bits = seed | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

/** Seeded stream of random numbers (xoroshiro128+): one seed gives one sequence on every machine. */
export class SeededRandom {
  readonly #generator: RandomGenerator;

  /** @param spread makes the generator's seed from `seed` */
  constructor(seed: number, spread = spreadBits) {
    this.#generator = xoroshiro128plus(spread(seed));
  }

  /** The stream of an unspread seed. It drew the shipped data, and the data of training and measurements. */
  static ofPublished(seed: number): SeededRandom {
    return new SeededRandom(seed, (plain) => plain | 0);
  }

  /** 32 random bits, as a whole number from −2³¹ on. */
  bits(): number {
    return this.#generator.next();
  }

  /** A number in [0, 1). */
  float(): number {
    return uniformFloat64(this.#generator);
  }

  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return uniformInt(this.#generator, low, high);
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.float() < probability;
  }

  /** One element, each equally likely. @throws RangeError for an empty list */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new RangeError('cannot pick from an empty list');
    return list[this.int(0, list.length - 1)]!;
  }

  /** A shuffled copy (Fisher–Yates). */
  shuffled<T>(list: readonly T[]): T[] {
    const copy = [...list];
    for (let last = copy.length - 1; last > 0; last--) {
      const other = this.int(0, last);
      [copy[last], copy[other]] = [copy[other]!, copy[last]!];
    }
    return copy;
  }

  /** Yields the elements in random order, drawing each when the caller takes it. */
  *inRandomOrder<T>(list: readonly T[]): Generator<T, void> {
    const left = [...list];
    for (let last = left.length - 1; last >= 0; last--) {
      const place = this.int(0, last);
      yield left[place]!;
      left[place] = left[last]!;
    }
  }
}
