/** A difference and the bounds of its interval. */
export type Difference = Readonly<Record<'delta' | 'low' | 'high', number>> & {
  /** Users that the interval is over; of two, it leaves out nothing and is not shown. */
  readonly users?: number;
};

/** A number for readers: `1234.5`, with a true minus sign, and never `−0.0`; `–` if it is not finite. */
export function formatNumber(value: number, digits: number): string {
  if (!Number.isFinite(value)) return '–';
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−');
}

/** `14.7 [7.0, 23.4]`: a value and the bounds of its interval. */
export function formatInterval(parts: readonly [value: number, low: number, high: number], digits: number): string {
  const [value, ...bounds] = parts.map((part) => formatNumber(part, digits));
  return `${value!} [${bounds.join(', ')}]`;
}

/** `−4.9 [−10.6, 0.3]`: a difference and its interval; `scale` 100 turns shares into points. */
export function formatDifference({ delta, low, high, users }: Difference, scale: number, digits: number): string {
  if (users === 2) return formatNumber(delta * scale, digits);
  return formatInterval([delta * scale, low * scale, high * scale], digits);
}

/** Decimals of a ratio, from its logarithm: two would show 0 for one below 1 %. */
export const ratioDigits = (logRatio: number): number => (Math.exp(logRatio) < 0.01 ? 4 : 2);

/** A ratio from its logarithm; an infinite bound, of an interval of one observation, stays infinite. */
export const ratioOf = (logRatio: number): number => (Number.isFinite(logRatio) ? Math.exp(logRatio) : logRatio);

/** `0.23 [0.22, 0.24]`: a ratio and its interval, from the difference of logarithms and its bounds. */
export function formatRatio({ delta, low, high, users }: Difference): string {
  if (users === 2) return formatNumber(ratioOf(delta), ratioDigits(delta));
  return formatInterval([ratioOf(delta), ratioOf(low), ratioOf(high)], ratioDigits(delta));
}

/** A probability as `.032` or `<.001`. */
export const formatProbability = (p: number): string => (p < 0.001 ? '<.001' : p.toFixed(3).replace(/^0/, ''));

/** A whole number in groups of three: `4,400`. Not by `toLocaleString`, whose first call is slow. */
export const groupedNumber = (value: number): string => String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');

/** `1 memory`, `2,000 memories` */
export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${groupedNumber(count)} ${count === 1 ? one : many}`;

/** A duration for readers: `1 min 20 s`, `2 h 5 min`. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 100 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
