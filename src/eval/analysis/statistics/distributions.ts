import { gammaln } from 'simple-statistics';

const SMALLEST = 1e-300;

/** Lentz's method for the continued fraction of the incomplete beta function. */
function continuedFraction(x: number, a: number, b: number): number {
  const nonZero = (value: number): number => (Math.abs(value) < SMALLEST ? SMALLEST : value);
  let c = 1;
  let d = 1 / nonZero(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m <= 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonZero(1 + even * d);
    c = nonZero(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonZero(1 + odd * d);
    c = nonZero(1 + odd / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return fraction;
}

/** The regularised incomplete beta function Iₓ(a, b) for a, b > 0. @see Press et al., Numerical Recipes, §6.4 */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(gammaln(a + b) - gammaln(a) - gammaln(b) + a * Math.log(x) + b * Math.log1p(-x));
  return x < (a + 1) / (a + b + 2)
    ? (front * continuedFraction(x, a, b)) / a
    : 1 - (front * continuedFraction(1 - x, b, a)) / b;
}

/** The x at which Iₓ(a, b) = `probability`, by bisection. */
export function betaQuantile(probability: number, a: number, b: number): number {
  let low = 0;
  let high = 1;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (incompleteBeta(middle, a, b) < probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The probability that Student's t with `freedom` degrees exceeds `value`. */
export function studentTail(value: number, freedom: number): number {
  const square = value ** 2;
  // Of a tiny value the share would round to 1, so its complement is taken.
  const beyond =
    square < 1e-8 * freedom
      ? (1 - incompleteBeta(square / (freedom + square), 0.5, freedom / 2)) / 2
      : incompleteBeta(freedom / (freedom + square), freedom / 2, 0.5) / 2;
  return value < 0 ? 1 - beyond : beyond;
}

/** The value that Student's t with `freedom` degrees exceeds with probability `tail` < ½. */
export function studentQuantile(tail: number, freedom: number): number {
  const share = betaQuantile(2 * tail, freedom / 2, 0.5);
  return Math.sqrt((freedom * (1 - share)) / share);
}
