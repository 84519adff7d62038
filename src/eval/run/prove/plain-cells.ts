import type { KvLayout, NumberType } from '../../../engine/kv-layout.ts';
import type { Rotary } from '../../../engine/rotary.ts';
import type { SequenceState } from '../../../engine/sequence-state.ts';

/** The keys and values of a cell, of each layer the numbers of all heads. */
export interface PlainCell {
  readonly position: number;
  readonly keys: readonly Float64Array[];
  readonly values: readonly Float64Array[];
}

/** Reads cells as numbers; shares no code with the layer that joins them. */
export function plainCells({ layout, positions, keys, values }: SequenceState): PlainCell[] {
  const row = layout.heads * layout.headDimension;
  const keyNumbers = keys.map((tensor) => numbersOf(tensor, layout.keyType));
  const valueNumbers = values.map((tensor) => numbersOf(tensor, layout.valueType));
  const count = positions.length;
  const valuesOf = (numbers: Float64Array, cell: number): Float64Array => {
    if (!layout.valuesTransposed) return numbers.slice(cell * row, (cell + 1) * row);
    const values = new Float64Array(row);
    for (let at = 0; at < row; at++) values[at] = numbers[at * count + cell]!;
    return values;
  };
  return Array.from(positions, (position, cell) => ({
    position,
    keys: keyNumbers.map((numbers) => numbers.slice(cell * row, (cell + 1) * row)),
    values: valueNumbers.map((numbers) => valuesOf(numbers, cell)),
  }));
}

/** A cell at another position: its keys rotated by RoPE as it is defined, in 64-bit floats. */
export function movedCell(cell: PlainCell, position: number, rotary: Rotary, { headDimension }: KvLayout): PlainCell {
  const distance = position - cell.position;
  if (distance === 0) return cell;
  return { ...cell, position, keys: cell.keys.map((keys) => rotated(keys, distance, rotary, headDimension)) };
}

/** A cell whose values are multiplied by α. */
export function scaledCell(cell: PlainCell, alpha: number): PlainCell {
  return alpha === 1 ? cell : { ...cell, values: cell.values.map((values) => values.map((number) => alpha * number)) };
}

/** A cell whose keys are divided by a temperature. */
export function cooledCell(cell: PlainCell, temperature: number): PlainCell {
  if (temperature === 1) return cell;
  return { ...cell, keys: cell.keys.map((keys) => keys.map((number) => number / temperature)) };
}

/** Cells as an engine takes them in, rounded to its types; their tokens are not known. */
export function stateOf(cells: readonly PlainCell[], layout: KvLayout): SequenceState {
  const row = layout.heads * layout.headDimension;
  const together = (rows: readonly Float64Array[], isTransposed: boolean, type: NumberType): Uint8Array => {
    const numbers = new Float64Array(rows.length * row);
    rows.forEach((own, cell) =>
      own.forEach((number, at) => (numbers[isTransposed ? at * rows.length + cell : cell * row + at] = number)),
    );
    return bytesOf(numbers, type);
  };
  const layers = Array.from({ length: layout.layers }, (_, layer) => layer);
  return {
    layout,
    positions: Int32Array.from(cells, ({ position }) => position),
    tokenIds: new Int32Array(cells.length),
    keys: layers.map((layer) =>
      together(
        cells.map(({ keys }) => keys[layer]!),
        false,
        layout.keyType,
      ),
    ),
    values: layers.map((layer) =>
      together(
        cells.map(({ values }) => values[layer]!),
        layout.valuesTransposed,
        layout.valueType,
      ),
    ),
    [Symbol.dispose]: () => undefined,
  };
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

function numbersOf(bytes: Uint8Array, type: NumberType): Float64Array {
  const { buffer } = new Uint8Array(bytes);
  if (type === 'F32') return Float64Array.from(new Float32Array(buffer));
  const halves = new Uint16Array(buffer);
  const table = halfPrecision();
  const numbers = new Float64Array(halves.length);
  // Millions a turn: an iterator takes ten times as long.
  for (let at = 0; at < halves.length; at++) numbers[at] = table[halves[at]!]!;
  return numbers;
}

function bytesOf(numbers: Float64Array, type: NumberType): Uint8Array {
  if (type === 'F32') return new Uint8Array(Float32Array.from(numbers).buffer);
  return new Uint8Array(Uint16Array.from(numbers, halfOf).buffer);
}

let halves: Float64Array | undefined;

/** The number that each 16 bits stand for. @see IEEE 754, binary16 */
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
function halfOf(number: number): number {
  const sign = number < 0 || Object.is(number, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(number);
  const exponent = Math.max(-14, Math.floor(Math.log2(magnitude)));
  const unit = 2 ** (exponent - 10);
  const units = roundedToEven(magnitude / unit);
  return sign | (units === 0 ? 0 : units + (exponent + 14) * 1024);
}

function roundedToEven(number: number): number {
  const below = Math.floor(number);
  const rest = number - below;
  return below + (rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? 1 : 0);
}
