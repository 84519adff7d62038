import type { Comparison } from '../store/records/results.ts';
import { formatNumber } from '../render/table.ts';

/** `14.7 [7.0, 23.4]`: a value, and the ends of its interval. */
export function intervalText(parts: readonly [value: number, low: number, high: number], digits: number): string {
  const [value, ...ends] = parts.map((part) => formatNumber(part, digits));
  return `${value!} [${ends.join(', ')}]`;
}

/** `0.23 [0.22, 0.24]`: the ratio whose logarithm was compared. */
export function ratioText({ delta, low, high }: Pick<Comparison, 'delta' | 'low' | 'high'>): string {
  return intervalText([Math.exp(delta), Math.exp(low), Math.exp(high)], 2);
}
