import type { KvLayout } from '../../../engine/kv-layout.ts';
import type { StoreType } from '../../../store/records/store-type.ts';
import { type PlainCell, plainCells, stateOf } from './plain-cells.ts';

const BLOCK = 32;

/**
 * Cells as they come out of a store: each number the nearest multiple of the scale that up to 32 neighbours of its head share, as ggml's q8_0 and
 * q4_0 define it, rounded to the engine's type; shares no code with the layer that keeps them.
 */
export function restoredCells(cells: readonly PlainCell[], type: StoreType, layout: KvLayout): readonly PlainCell[] {
  if (type === 'f16' || cells.length === 0) return cells;
  const levels = type === 'q8_0' ? eightBits : fourBits;
  const restored = (numbers: Float64Array): Float64Array => {
    const result = new Float64Array(numbers.length);
    for (let head = 0; head < numbers.length; head += layout.headDimension) {
      for (let at = 0; at < layout.headDimension; at += BLOCK) {
        const end = head + Math.min(at + BLOCK, layout.headDimension);
        result.set(levels(numbers.subarray(head + at, end)), head + at);
      }
    }
    return result;
  };
  const changed = cells.map((cell) => ({
    ...cell,
    keys: cell.keys.map(restored),
    values: cell.values.map(restored),
  }));
  return plainCells(stateOf(changed, layout));
}

function eightBits(numbers: Float64Array): Float64Array {
  const scale = Math.fround(Math.max(...numbers.map(Math.abs)) / 127);
  const inverse = scale === 0 ? 0 : Math.fround(1 / scale);
  const half = halfPrecision(scale);
  return numbers.map((number) => {
    const level = Math.fround(number * inverse);
    return half * Math.sign(level) * Math.round(Math.abs(level));
  });
}

function fourBits(numbers: Float64Array): Float64Array {
  const largest = Math.max(...numbers.map(Math.abs));
  const extreme = numbers.find((number) => Math.abs(number) === largest)!;
  const scale = Math.fround(extreme / -8);
  const inverse = scale === 0 ? 0 : Math.fround(1 / scale);
  const half = halfPrecision(scale);
  return numbers.map((number) => half * (Math.min(15, Math.floor(number * inverse + 8.5)) - 8));
}

/** The nearest number of half precision, ties to even. */
function halfPrecision(number: number): number {
  const exponent = Math.max(-14, Math.floor(Math.log2(Math.abs(number))));
  if (number === 0) return 0;
  const unit = 2 ** (exponent - 10);
  const [units, below] = [number / unit, Math.floor(number / unit)];
  const isUp = units - below > 0.5 || (units - below === 0.5 && below % 2 !== 0);
  return (isUp ? below + 1 : below) * unit;
}
