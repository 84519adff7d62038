import type { NumberType } from '../engine/sequence-state.ts';
import { instantiate } from './kernel-memory.ts';
import {
  advance,
  type Code,
  type DeclareLocal,
  i16x8,
  i32,
  i32x4,
  type Local,
  v128,
  VECTOR_BYTES,
  type WasmFunction,
  whileBelow,
} from './wasm-assembler.ts';

/**
 * Transposes a matrix from one place into another, a square of numbers at once, as many a side as a vector holds. Both sides of
 * the matrix have that many at least; its rows are whole vectors.
 */
type Transpose = (source: number, rows: number, rowBytes: number, target: number) => number;

/** Of half and of single precision. */
const INTERLEAVE = { F16: i16x8, F32: i32x4 } as const;
const LOG_NUMBERS = { F16: 3, F32: 2 } as const;

function transpose(type: NumberType): WasmFunction {
  const numbers = 2 ** LOG_NUMBERS[type];
  const numberBytes = VECTOR_BYTES / numbers;
  return {
    name: type,
    parameters: ['i32', 'i32', 'i32', 'i32'],
    body: ([source, rows, rowBytes, target], declare) => {
      const [columnsEnd, from, last, to, targetRowBytes] = [0, 1, 2, 3, 4].map(() => declare('i32')) as [
        Local,
        Local,
        Local,
        Local,
        Local,
      ];
      const lastRow = i32.mul(i32.add(rows!.get, i32.const(-numbers)), rowBytes!.get);
      const square = squareOf(type, numbers, { rowBytes: rowBytes!, targetRowBytes }, declare);
      const lastColumns = i32.add(to.get, i32.const(-VECTOR_BYTES));
      return [
        ...targetRowBytes.set(i32.mul(rows!.get, i32.const(numberBytes))),
        ...columnsEnd.set(i32.add(source!.get, rowBytes!.get)),
        ...whileBelow(source!, columnsEnd.get, i32.const(VECTOR_BYTES), [
          ...from.set(source!.get),
          ...last.set(i32.add(source!.get, lastRow)),
          ...to.set(target!.get),
          ...whileBelow(from, last.get, i32.shiftLeft(rowBytes!.get, i32.const(LOG_NUMBERS[type])), [
            ...square(from.get, to.get),
            ...advance(to, i32.const(VECTOR_BYTES)),
          ]),
          // The last square ends with the last row, over the one before it.
          ...to.set(i32.add(target!.get, targetRowBytes.get)),
          ...square(last.get, lastColumns),
          ...advance(target!, i32.shiftLeft(targetRowBytes.get, i32.const(LOG_NUMBERS[type]))),
        ]),
        ...i32.const(0),
      ];
    },
  };
}

/** The code that transposes one square: each step brings the rows together that are half the square apart. */
function squareOf(
  type: NumberType,
  numbers: number,
  { rowBytes, targetRowBytes }: { readonly rowBytes: Local; readonly targetRowBytes: Local },
  declare: DeclareLocal,
): (from: Code, to: Code) => Code {
  const address = declare('i32');
  const { interleaveLow, interleaveHigh } = INTERLEAVE[type];
  let rows = Array.from({ length: numbers }, () => declare('v128'));
  let others = Array.from({ length: numbers }, () => declare('v128'));
  return (from, to) => {
    const code = [...address.set(from)];
    for (const row of rows) code.push(...row.set(v128.load(address.get)), ...advance(address, rowBytes.get));
    for (let step = 0; step < Math.log2(numbers); step++) {
      for (let pair = 0; pair < numbers / 2; pair++) {
        const [upper, lower] = [rows[pair]!.get, rows[pair + numbers / 2]!.get];
        code.push(...others[2 * pair]!.set(interleaveLow(upper, lower)));
        code.push(...others[2 * pair + 1]!.set(interleaveHigh(upper, lower)));
      }
      [rows, others] = [others, rows];
    }
    code.push(...address.set(to));
    for (const row of rows) code.push(...v128.store(address.get, row.get), ...advance(address, targetRowBytes.get));
    return code;
  };
}

const kernels = instantiate([transpose('F16'), transpose('F32')]) as Readonly<Record<NumberType, Transpose>>;

/** The function that transposes numbers of a type; undefined for a matrix with too few of them on a side. */
export function transposeKernel(type: NumberType, rows: number, columns: number): Transpose | undefined {
  const numbers = 2 ** LOG_NUMBERS[type];
  return rows >= numbers && columns % numbers === 0 ? kernels[type] : undefined;
}
