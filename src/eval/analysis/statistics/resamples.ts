import { SeededRandom } from '../../../config/seeded-random.ts';

/** Resamples of an interval. */
export const BOOTSTRAP_DRAWS = 10_000;

const RANGE = 2 ** 32;

/** One stream of whole numbers below 2³² that all estimates of a run read from its beginning. */
let stream: { readonly seed: number; readonly random: SeededRandom; numbers: Uint32Array } | undefined;

function numbersOf(seed: number, length: number): Uint32Array {
  if (stream?.seed !== seed) stream = { seed, random: new SeededRandom(seed), numbers: new Uint32Array(0) };
  const { random, numbers } = stream;
  if (numbers.length >= length) return numbers;
  const longer = new Uint32Array(length);
  longer.set(numbers);
  for (let place = numbers.length; place < length; place++) longer[place] = Math.floor(random.float() * RANGE);
  return (stream.numbers = longer);
}

/** Users drawn with replacement by each of 10,000 resamples, each as many as there are users. */
export interface Resamples {
  /** One resample after the other. */
  readonly numbers: Uint32Array;
  /** `Math.floor(number * scale)` is the user. */
  readonly scale: number;
}

/** One seed and one number of users give the same draws, whatever was drawn before. */
export function resamples(users: number, seed: number): Resamples {
  return { numbers: numbersOf(seed, BOOTSTRAP_DRAWS * users), scale: users / RANGE };
}
