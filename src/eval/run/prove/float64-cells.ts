import type { KvLayout, NumberType, Rotary, SequenceState } from '../../../engine/sequence-state.ts';
import type { StoreType } from '../../../store/records/prefill-record.ts';

/** The keys and values of one position in 64-bit floats: per layer, the numbers of all heads. */
export interface Float64Cell {
  readonly position: number;
  readonly keys: readonly Float64Array[];
  readonly values: readonly Float64Array[];
}

/** Allowed relative differences: keys of layer 0, which depend on token and position alone, and all other numbers. */
export interface CellBound {
  readonly firstKeys: number;
  readonly deeper: number;
}

/** Bound on the relative error of a rotation, a product and the engine's rounding. */
export const ROUNDING: Readonly<Record<NumberType, number>> = { F16: 2 ** -9, F32: 2 ** -17 };

/** Numbers of a head that share a scale in quantised KV. */
const QUANTISED_BLOCK = 32;

/** Decodes cells to 64-bit floats. Shares no code with `kv`, where blocks are joined. */
export function float64Cells({ layout, positions, keys, values }: SequenceState): Float64Cell[] {
  const row = layout.heads * layout.headDimension;
  const keyNumbers = keys.map((tensor) => decodeNumbers(tensor, layout.keyType));
  const valueNumbers = values.map((tensor) => decodeNumbers(tensor, layout.valueType));
  const count = positions.length;
  const valueRow = (numbers: Float64Array, cell: number): Float64Array => {
    if (!layout.valuesTransposed) return numbers.slice(cell * row, (cell + 1) * row);
    const values = new Float64Array(row);
    for (let at = 0; at < row; at++) values[at] = numbers[at * count + cell]!;
    return values;
  };
  return Array.from(positions, (position, cell) => ({
    position,
    keys: keyNumbers.map((numbers) => numbers.slice(cell * row, (cell + 1) * row)),
    values: valueNumbers.map((numbers) => valueRow(numbers, cell)),
  }));
}

/** A cell moved to another position: its keys rotated by RoPE in 64-bit floats. */
export function movedCell(cell: Float64Cell, position: number, rotary: Rotary, { headDimension }: KvLayout) {
  const distance = position - cell.position;
  if (distance === 0) return cell;
  return {
    ...cell,
    position,
    keys: cell.keys.map((keys, layer) => rotated(keys, distance, ownRotary(rotary, layer), headDimension)),
  };
}

export function scaledCell(cell: Float64Cell, alpha: number): Float64Cell {
  return alpha === 1 ? cell : { ...cell, values: cell.values.map((values) => values.map((number) => alpha * number)) };
}

export function cooledCell(cell: Float64Cell, temperature: number): Float64Cell {
  if (temperature === 1) return cell;
  return { ...cell, keys: cell.keys.map((keys) => keys.map((number) => number / temperature)) };
}

/** Cells as an engine imports them, rounded to its types; their tokens are unknown. */
export function toState(cells: readonly Float64Cell[], layout: KvLayout): SequenceState {
  const row = layout.heads * layout.headDimension;
  const tensors = (part: 'keys' | 'values', isTransposed: boolean, type: NumberType): Uint8Array[] =>
    Array.from({ length: layout.layers }, (_, layer) => {
      const numbers = new Float64Array(cells.length * row);
      for (const [index, cell] of cells.entries()) {
        const place = (at: number): number => (isTransposed ? at * cells.length + index : index * row + at);
        cell[part][layer]!.forEach((number, at) => (numbers[place(at)] = number));
      }
      return encodeNumbers(numbers, type);
    });
  return {
    layout,
    positions: Int32Array.from(cells, ({ position }) => position),
    tokenIds: new Int32Array(cells.length),
    keys: tensors('keys', false, layout.keyType),
    values: tensors('values', layout.valuesTransposed, layout.valueType),
    [Symbol.dispose]: () => undefined,
  };
}

/** Cells after quantising and restoring, by ggml's definition of q8_0 and q4_0. Shares no code with `kv`. */
export function restoredCells(cells: readonly Float64Cell[], type: StoreType, layout: KvLayout) {
  if (type === 'f16' || cells.length === 0) return cells;
  const quantised = type === 'q8_0' ? eightBits : fourBits;
  const restored = (numbers: Float64Array): Float64Array => {
    const result = new Float64Array(numbers.length);
    for (let head = 0; head < numbers.length; head += layout.headDimension) {
      for (let at = 0; at < layout.headDimension; at += QUANTISED_BLOCK) {
        const end = head + Math.min(at + QUANTISED_BLOCK, layout.headDimension);
        result.set(quantised(numbers.subarray(head + at, end)), head + at);
      }
    }
    return result;
  };
  const changed = cells.map((cell) => ({ ...cell, keys: cell.keys.map(restored), values: cell.values.map(restored) }));
  return float64Cells(toState(changed, layout));
}

function eightBits(numbers: Float64Array): Float64Array {
  const { inverse, half } = storedScale(Math.max(...numbers.map(Math.abs)) / 127);
  return numbers.map((number) => {
    const level = Math.fround(number * inverse);
    return half * Math.sign(level) * Math.round(Math.abs(level));
  });
}

function fourBits(numbers: Float64Array): Float64Array {
  const largest = Math.max(...numbers.map(Math.abs));
  const extreme = numbers.find((number) => Math.abs(number) === largest)!;
  const { inverse, half } = storedScale(extreme / -8);
  return numbers.map((number) => half * (Math.min(15, Math.floor(number * inverse + 8.5)) - 8));
}

/** A scale rounded to float16, as it is stored, and the inverse that quantising multiplies by. */
function storedScale(exact: number): { readonly inverse: number; readonly half: number } {
  const scale = Math.fround(exact);
  return { inverse: scale === 0 ? 0 : Math.fround(1 / scale), half: halfPrecision()[halfBits(scale)]! };
}

/** Largest differences, relative to the largest number in a cell's layer. @throws RangeError if the counts differ */
export function cellDifference(a: readonly Float64Cell[], b: readonly Float64Cell[]) {
  if (a.length !== b.length) throw new RangeError(`${a.length} cells cannot be compared with ${b.length}`);
  let [firstKeys, keys, values] = [0, 0, 0];
  for (const [index, cell] of a.entries()) {
    const other = b[index]!;
    cell.keys.forEach((numbers, layer) => {
      const difference = relativeDifference(numbers, other.keys[layer]!);
      if (layer === 0) firstKeys = Math.max(firstKeys, difference);
      keys = Math.max(keys, difference);
    });
    cell.values.forEach((numbers, layer) => {
      values = Math.max(values, relativeDifference(numbers, other.values[layer]!));
    });
  }
  return { firstKeys, keys, values };
}

function relativeDifference(a: Float64Array, b: Float64Array): number {
  let [difference, largest] = [0, 0];
  for (let at = 0; at < b.length; at++) {
    difference = Math.max(difference, Math.abs(a[at]! - b[at]!));
    largest = Math.max(largest, Math.abs(b[at]!));
  }
  return largest === 0 ? (difference === 0 ? 0 : Infinity) : difference / largest;
}

/** Describes the first difference from the expected cells; null if there is none. */
export function wrongCells(found: readonly Float64Cell[], expected: readonly Float64Cell[], bound: CellBound) {
  if (found.length !== expected.length) return `${found.length} cells in place of ${expected.length}`;
  const moved = found.findIndex(({ position }, index) => position !== expected[index]!.position);
  if (moved !== -1)
    return `cell ${moved} at position ${found[moved]!.position} in place of ${expected[moved]!.position}`;
  const { firstKeys, keys, values } = cellDifference(found, expected);
  const by = (difference: number): string => `by ${difference.toExponential(1)} of the largest`;
  // Negated comparisons: NaN is never allowed.
  if (!(firstKeys <= bound.firstKeys))
    return `keys of layer 0 are those of other tokens or positions (${by(firstKeys)})`;
  if (!(keys <= bound.deeper)) return `keys differ ${by(keys)}`;
  if (!(values <= bound.deeper)) return `values differ ${by(values)}`;
  return null;
}

/** Avoids `layerRotary`, so that it finds faults in it. */
function ownRotary({ windowed, ...rotary }: Rotary, layer: number): Rotary {
  if (windowed === undefined || windowed.layers.every((other) => other !== layer)) return rotary;
  return { ...rotary, base: windowed.base, scale: windowed.scale };
}

function rotated(keys: Float64Array, distance: number, rotary: Rotary, headDimension: number): Float64Array {
  const { base, scale, pairing, dimensions, factors } = rotary;
  const result = keys.slice();
  for (let pair = 0; pair < dimensions / 2; pair++) {
    const angle = (distance * scale * base ** ((-2 * pair) / dimensions)) / (factors?.[pair] ?? 1);
    const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
    const [first, second] = pairing === 'norm' ? [2 * pair, 2 * pair + 1] : [pair, pair + dimensions / 2];
    for (let head = 0; head < keys.length; head += headDimension) {
      const [x, y] = [keys[head + first]!, keys[head + second]!];
      result[head + first] = x * cosine - y * sine;
      result[head + second] = x * sine + y * cosine;
    }
  }
  return result;
}

function decodeNumbers(bytes: Uint8Array, type: NumberType): Float64Array {
  const { buffer } = new Uint8Array(bytes);
  if (type === 'F32') return Float64Array.from(new Float32Array(buffer));
  const bits = new Uint16Array(buffer);
  const table = halfPrecision();
  const numbers = new Float64Array(bits.length);
  // A turn has millions of numbers: an iterator would take ten times as long.
  for (let at = 0; at < bits.length; at++) numbers[at] = table[bits[at]!]!;
  return numbers;
}

function encodeNumbers(numbers: Float64Array, type: NumberType): Uint8Array {
  if (type === 'F32') return new Uint8Array(Float32Array.from(numbers).buffer);
  return new Uint8Array(Uint16Array.from(numbers, halfBits).buffer);
}

let halves: Float64Array | undefined;

/** The number that each pattern of 16 bits stands for. @see IEEE 754, binary16 */
function halfPrecision(): Float64Array {
  halves ??= Float64Array.from({ length: 2 ** 16 }, (_, bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 0x1f;
    const fraction = bits & 0x3ff;
    if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
    return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
  });
  return halves;
}

/** The bits of the nearest half-precision number, ties to even. */
function halfBits(number: number): number {
  const sign = number < 0 || Object.is(number, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(number);
  const exponent = Math.max(-14, Math.floor(Math.log2(magnitude)));
  const scaled = magnitude / 2 ** (exponent - 10);
  const below = Math.floor(scaled);
  const rest = scaled - below;
  const units = below + (rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? 1 : 0);
  return sign | (units === 0 ? 0 : units + (exponent + 14) * 1024);
}
