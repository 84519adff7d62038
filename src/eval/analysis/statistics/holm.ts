/** Adjusted p values in the given order: the i-th smallest of m times m − i + 1, never decreasing. @see Holm 1979 */
export function holm(pValues: readonly number[]): number[] {
  const order = pValues.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p);
  const adjusted = new Array<number>(pValues.length);
  let least = 0;
  order.forEach(({ p, index }, rank) => {
    least = Math.max(least, Math.min(1, p * (pValues.length - rank)));
    adjusted[index] = least;
  });
  return adjusted;
}
