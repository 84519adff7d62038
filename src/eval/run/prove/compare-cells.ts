import type { NumberType } from '../../../engine/kv-layout.ts';
import type { PlainCell } from './plain-cells.ts';

/** Differences of cells, each as a part of the largest number of its cell and layer. */
interface CellDifference {
  /** Keys of layer 0, which depend on token and position alone. */
  readonly firstKeys: number;
  readonly keys: number;
  readonly values: number;
}

/** A rotation, a product and the rounding of an engine differ by less than this from exact arithmetic, rounded once. */
export const ROUNDING: Readonly<Record<NumberType, number>> = { F16: 2 ** -9, F32: 2 ** -17 };

/** The largest differences between cells in the same order. @throws RangeError for other numbers of cells */
export function cellDifference(a: readonly PlainCell[], b: readonly PlainCell[]): CellDifference {
  if (a.length !== b.length) throw new RangeError(`${a.length} cells cannot be compared with ${b.length}`);
  let [firstKeys, keys, values] = [0, 0, 0];
  for (const [index, cell] of a.entries()) {
    const other = b[index]!;
    cell.keys.forEach((numbers, layer) => {
      const difference = relative(numbers, other.keys[layer]!);
      if (layer === 0) firstKeys = Math.max(firstKeys, difference);
      keys = Math.max(keys, difference);
    });
    cell.values.forEach((numbers, layer) => {
      values = Math.max(values, relative(numbers, other.values[layer]!));
    });
  }
  return { firstKeys, keys, values };
}

/**
 * The first thing in which cells are not what they must be, in words; null where they are.
 * @param bound of differences that rounding and the engine's own noise make
 */
export function wrongCells(
  found: readonly PlainCell[],
  expected: readonly PlainCell[],
  bound: { readonly firstKeys: number; readonly deeper: number },
): string | null {
  if (found.length !== expected.length) return `${found.length} cells in place of ${expected.length}`;
  const moved = found.findIndex(({ position }, index) => position !== expected[index]!.position);
  if (moved !== -1)
    return `cell ${moved} at position ${found[moved]!.position} in place of ${expected[moved]!.position}`;
  const { firstKeys, keys, values } = cellDifference(found, expected);
  const by = (difference: number): string => `by ${difference.toExponential(1)} of the largest`;
  // What is no number is no difference that is allowed.
  if (!(firstKeys <= bound.firstKeys))
    return `keys of layer 0 are those of other tokens or positions (${by(firstKeys)})`;
  if (!(keys <= bound.deeper)) return `keys differ ${by(keys)}`;
  if (!(values <= bound.deeper)) return `values differ ${by(values)}`;
  return null;
}

function relative(a: Float64Array, b: Float64Array): number {
  let [difference, largest] = [0, 0];
  for (let at = 0; at < b.length; at++) {
    difference = Math.max(difference, Math.abs(a[at]! - b[at]!));
    largest = Math.max(largest, Math.abs(b[at]!));
  }
  return largest === 0 ? (difference === 0 ? 0 : Infinity) : difference / largest;
}
