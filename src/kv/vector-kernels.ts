import { instantiate } from './kernel-memory.ts';
import { halfPrecision, type NumberCode, NUMBERS_AT_ONCE, singlePrecision } from './number-code.ts';
import {
  advance,
  type Code,
  copyMemory,
  type DeclareLocal,
  f32x4,
  i32,
  type Local,
  v128,
  VECTOR_BYTES,
  type WasmFunction,
  whileBelow,
} from './wasm-assembler.ts';

/** The functions of the module, on the memory of the kernels. Addresses and lengths in bytes; no range may be empty. */
export interface VectorKernels {
  /**
   * Multiplies numbers in place, in groups of eight: up to seven behind the end are read and changed as well.
   * Gives 1 where a number or a product is not finite.
   */
  readonly scaleF16: Scale;
  readonly scaleF32: Scale;
  /** Copies rows that lie one behind the other to where they lie apart; each has at least `VECTOR_BYTES`. */
  readonly spreadRows: SpreadRows;
  /** The same for rows of half as many bytes, or more, and for rows of any length. */
  readonly spreadMediumRows: SpreadRows;
  readonly spreadShortRows: SpreadRows;
  /** Copies rows that lie apart to where they lie one behind the other. */
  readonly gatherRows: GatherRows;
}

type Scale = (start: number, end: number, factor: number) => number;
type SpreadRows = (
  source: number,
  sourceEnd: number,
  rowBytes: number,
  target: number,
  targetRowBytes: number,
) => number;

type GatherRows = (
  source: number,
  sourceEnd: number,
  sourceRowBytes: number,
  target: number,
  rowBytes: number,
) => number;

/** Bytes of half a vector. */
export const HALF_VECTOR_BYTES = VECTOR_BYTES / 2;

const HALF_INFINITY = 0x7c00;

function scale(name: string, codeOf: (declare: DeclareLocal) => NumberCode): WasmFunction {
  return {
    name,
    parameters: ['i32', 'i32', 'f32'],
    body: ([address, end, factor], declare) => {
      const numbers = codeOf(declare);
      const [factors, first, second] = [declare('v128'), declare('v128'), declare('v128')];
      const body = [
        ...numbers.note(address!.get),
        ...numbers.load(address!.get, first, second),
        ...first.set(f32x4.mul(first.get, factors.get)),
        ...second.set(f32x4.mul(second.get, factors.get)),
        ...numbers.store(address!.get, first, second),
      ];
      return [
        ...factors.set(f32x4.mul(f32x4.splat(factor!.get), f32x4.const(numbers.unit))),
        ...whileBelow(address!, end!.get, i32.const(NUMBERS_AT_ONCE * numbers.elementBytes), body),
        ...numbers.exceeds(HALF_INFINITY),
      ];
    },
  };
}

/** Rows, one by one. @param copyRow the code that copies one */
function spreadRows(
  name: string,
  copyRow: (row: Readonly<Record<'source' | 'target' | 'rowBytes', Local>>, declare: DeclareLocal) => Code,
): WasmFunction {
  return {
    name,
    parameters: ['i32', 'i32', 'i32', 'i32', 'i32'],
    body: ([source, sourceEnd, rowBytes, target, targetRowBytes], declare) => {
      const copy = copyRow({ source: source!, target: target!, rowBytes: rowBytes! }, declare);
      const body = [...copy, ...advance(target!, targetRowBytes!.get)];
      return [...whileBelow(source!, sourceEnd!.get, rowBytes!.get, body), ...i32.const(0)];
    },
  };
}

/** Whole vectors from the beginning of the row, and one that ends with it. */
const spreadLongRows = spreadRows('spreadRows', ({ source, target, rowBytes }, declare) => {
  const [from, to, last] = [declare('i32'), declare('i32'), declare('i32')];
  const lastOf = (row: Local): Code => i32.add(i32.add(row.get, rowBytes.get), i32.const(-VECTOR_BYTES));
  const copyVector = [...v128.store(to.get, v128.load(from.get)), ...advance(to, i32.const(VECTOR_BYTES))];
  return [
    ...from.set(source.get),
    ...to.set(target.get),
    ...last.set(lastOf(source)),
    ...whileBelow(from, last.get, i32.const(VECTOR_BYTES), copyVector),
    ...v128.store(lastOf(target), v128.load(last.get)),
  ];
});

/** The first bytes of the row, and its last, which may be the same. */
const spreadMediumRows = spreadRows('spreadMediumRows', ({ source, target, rowBytes }) => {
  const lastOf = (row: Local): Code => i32.add(i32.add(row.get, rowBytes.get), i32.const(-HALF_VECTOR_BYTES));
  return [
    ...v128.store64(target.get, v128.load64(source.get)),
    ...v128.store64(lastOf(target), v128.load64(lastOf(source))),
  ];
});

const gatherRows: WasmFunction = {
  name: 'gatherRows',
  parameters: ['i32', 'i32', 'i32', 'i32', 'i32'],
  body: ([source, sourceEnd, sourceRowBytes, target, rowBytes]) => [
    ...whileBelow(source!, sourceEnd!.get, sourceRowBytes!.get, [
      ...copyMemory(target!.get, source!.get, rowBytes!.get),
      ...advance(target!, rowBytes!.get),
    ]),
    ...i32.const(0),
  ],
};

/** Arithmetic on K/V that is the same for every model, on bytes in the memory of the kernels. */
export const kernels = instantiate([
  scale('scaleF16', halfPrecision),
  scale('scaleF32', singlePrecision),
  spreadLongRows,
  spreadMediumRows,
  gatherRows,
  spreadRows('spreadShortRows', ({ source, target, rowBytes }) => copyMemory(target.get, source.get, rowBytes.get)),
]) as VectorKernels;
