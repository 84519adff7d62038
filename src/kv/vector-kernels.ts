import { halfPrecision, type NumberCode, singlePrecision } from './number-code.ts';
import {
  assemble,
  type Code,
  copyMemory,
  type DeclareLocal,
  doWhile,
  f32x4,
  i32,
  type Local,
  v128,
  type WasmFunction,
} from './wasm-assembler.ts';

// Neither Node's types nor the library of the language declare it.
declare const WebAssembly: {
  readonly Memory: new (size: { initial: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
};
interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** The functions of the module. Addresses and lengths in bytes; no range may be empty. */
export interface VectorKernels {
  /** Turns the pairs (2i, 2i+1) of each vector in place. */
  readonly rotateNormF16: Rotate;
  readonly rotateNormF32: Rotate;
  /** Turns the pairs (i, i + dimensions/2) of each vector in place. */
  readonly rotateNeoxF16: Rotate;
  readonly rotateNeoxF32: Rotate;
  /**
   * Multiplies numbers in place, in groups of eight: up to seven behind the end are read and changed as well.
   * Gives 1 where a number or a product is not finite.
   */
  readonly scaleF16: Scale;
  readonly scaleF32: Scale;
  /**
   * Fills the target with rows, each made of the next row of every part. A part is two 32-bit numbers: the address of
   * its first row, which moves to behind the last, and how many bytes each of its rows has.
   */
  readonly gatherRows: (parts: number, partsEnd: number, target: number, targetEnd: number) => number;
}

/**
 * Turns the first `dimensions` numbers of each vector; gives 1 where a number is not finite, or too large to be turned.
 * @param dimensions a multiple of 8 @param table cosines, and behind as many numbers the sines, times
 * the unit in which numbers of the type are read
 */
export type Rotate = (start: number, end: number, vectorBytes: number, dimensions: number, table: number) => number;
type Scale = (start: number, end: number, factor: number) => number;

const PAGE_BYTES = 65_536;
const WORKSPACE_BYTES = 8 * PAGE_BYTES;
const FLOAT_BYTES = 4;
const WORD_BYTES = 4;
/** Numbers that are read at once, and stored at once. */
const READ = 4;
const STORED = 8;
const HALF_INFINITY = 0x7c00;
/** 46336: of two numbers that are turned, one is as large where one was 65536, as infinity is read, or larger. */
const HALF_LARGEST_TURNED = 0x79a8;

type NumberCodeOf = (declare: DeclareLocal) => NumberCode;

/** Runs the body, advances the address, and goes on while it is below the end. */
function whileBelow(address: Local, end: Code, stepBytes: Code, body: Code): Code {
  const next = address.set(i32.add(address.get, stepBytes));
  return doWhile([...body, ...next], i32.lessThan(address.get, end));
}

/** What the body of a rotation works with: the first number, of the group of pairs, in one vector. */
interface PairGroup {
  readonly numbers: NumberCode;
  readonly address: Local;
  readonly dimensions: Local;
  /** Where the cosines of the group begin, and the sines. */
  readonly cosines: Local;
  readonly sines: Local;
}

/**
 * A rotation: group of pairs by group of pairs, each through all vectors, so that cosine and sine stay in registers.
 * @param groupNumbers how far one group of pairs is from the next
 * @param reach 1 where the groups go through all dimensions, 2 where they go through half of them
 * @param write code that runs once a group, and code that runs for each vector
 */
function rotation(
  name: string,
  codeOf: NumberCodeOf,
  groupNumbers: number,
  reach: 1 | 2,
  write: (group: PairGroup, declare: DeclareLocal) => { readonly once: Code; readonly each: Code },
): WasmFunction {
  return {
    name,
    parameters: ['i32', 'i32', 'i32', 'i32', 'i32'],
    body: ([start, end, vectorBytes, dimensions, table], declare) => {
      const numbers = codeOf(declare);
      const [address, sines, tableEnd] = [declare('i32'), declare('i32'), declare('i32')];
      const group: PairGroup = { numbers, address, dimensions: dimensions!, cosines: table!, sines };
      const { once, each } = write(group, declare);
      const tableBytes = i32.shiftLeft(dimensions!.get, i32.const(Math.log2(FLOAT_BYTES / reach)));
      const step = (local: Local, bytes: number): Code => local.set(i32.add(local.get, i32.const(bytes)));
      const body = [
        ...once,
        ...address.set(start!.get),
        ...whileBelow(address, end!.get, vectorBytes!.get, each),
        ...step(start!, groupNumbers * numbers.elementBytes),
        ...step(sines, groupNumbers * FLOAT_BYTES),
      ];
      return [
        ...sines.set(i32.add(table!.get, tableBytes)),
        ...tableEnd.set(sines.get),
        ...whileBelow(table!, tableEnd.get, i32.const(groupNumbers * FLOAT_BYTES), body),
        ...numbers.exceeds(HALF_LARGEST_TURNED),
      ];
    },
  };
}

function rotateNorm(name: string, codeOf: NumberCodeOf): WasmFunction {
  return rotation(name, codeOf, STORED, 1, ({ numbers, address, cosines, sines }, declare) => {
    const halves = [0, 1].map((half) => {
      const [pairs, cosine, sine] = [declare('v128'), declare('v128'), declare('v128')];
      const from = (table: Local): Code => v128.load(i32.add(table.get, i32.const(half * READ * FLOAT_BYTES)));
      const place = i32.add(address.get, i32.const(half * READ * numbers.elementBytes));
      const turned = f32x4.add(f32x4.mul(pairs.get, cosine.get), f32x4.mul(v128.swapPairs(pairs.get), sine.get));
      return {
        once: [...cosine.set(from(cosines)), ...sine.set(from(sines))],
        turn: [...pairs.set(numbers.load(place)), ...pairs.set(turned)],
        pairs,
        place,
      };
    });
    const [low, high] = [halves[0]!, halves[1]!];
    return {
      once: [...low.once, ...high.once],
      each: [...low.turn, ...high.turn, ...numbers.store(low.place, low.pairs, high.place, high.pairs)],
    };
  });
}

function rotateNeox(name: string, codeOf: NumberCodeOf): WasmFunction {
  return rotation(name, codeOf, READ, 2, ({ numbers, address, dimensions, cosines, sines }, declare) => {
    const [cosine, sine, first, second] = [declare('v128'), declare('v128'), declare('v128'), declare('v128')];
    const [turnedFirst, turnedSecond, partner] = [declare('v128'), declare('v128'), declare('i32')];
    // Half of the dimensions, in bytes.
    const distance = i32.shiftLeft(dimensions.get, i32.const(Math.log2(numbers.elementBytes / 2)));
    return {
      once: [...cosine.set(v128.load(cosines.get)), ...sine.set(v128.load(sines.get))],
      each: [
        ...partner.set(i32.add(address.get, distance)),
        ...first.set(numbers.load(address.get)),
        ...second.set(numbers.load(partner.get)),
        ...turnedFirst.set(f32x4.sub(f32x4.mul(first.get, cosine.get), f32x4.mul(second.get, sine.get))),
        ...turnedSecond.set(f32x4.add(f32x4.mul(second.get, cosine.get), f32x4.mul(first.get, sine.get))),
        ...numbers.store(address.get, turnedFirst, partner.get, turnedSecond),
      ],
    };
  });
}

function scale(name: string, codeOf: NumberCodeOf): WasmFunction {
  return {
    name,
    parameters: ['i32', 'i32', 'f32'],
    body: ([address, end, factor], declare) => {
      const numbers = codeOf(declare);
      const [factors, first, second] = [declare('v128'), declare('v128'), declare('v128')];
      const secondPlace = i32.add(address!.get, i32.const(READ * numbers.elementBytes));
      const body = [
        ...numbers.note(address!.get),
        ...first.set(f32x4.mul(numbers.load(address!.get), factors.get)),
        ...second.set(f32x4.mul(numbers.load(secondPlace), factors.get)),
        ...numbers.store(address!.get, first, secondPlace, second),
      ];
      return [
        ...factors.set(f32x4.mul(f32x4.splat(factor!.get), f32x4.const(numbers.unit))),
        ...whileBelow(address!, end!.get, i32.const(STORED * numbers.elementBytes), body),
        ...numbers.exceeds(HALF_INFINITY),
      ];
    },
  };
}

const gatherRows: WasmFunction = {
  name: 'gatherRows',
  parameters: ['i32', 'i32', 'i32', 'i32'],
  body: ([parts, partsEnd, target, end], declare) => {
    const [part, source, rowBytes] = [declare('i32'), declare('i32'), declare('i32')];
    const copyRow = [
      ...source.set(i32.load(part.get)),
      ...rowBytes.set(i32.load(i32.add(part.get, i32.const(WORD_BYTES)))),
      ...copyMemory(target!.get, source.get, rowBytes.get),
      ...target!.set(i32.add(target!.get, rowBytes.get)),
      ...i32.store(part.get, i32.add(source.get, rowBytes.get)),
    ];
    const row = [...part.set(parts!.get), ...whileBelow(part, partsEnd!.get, i32.const(2 * WORD_BYTES), copyRow)];
    return [...doWhile(row, i32.lessThan(target!.get, end!.get)), ...i32.const(0)];
  },
};

const memory = new WebAssembly.Memory({ initial: WORKSPACE_BYTES / PAGE_BYTES });
const functions = [
  rotateNorm('rotateNormF16', halfPrecision),
  rotateNorm('rotateNormF32', singlePrecision),
  rotateNeox('rotateNeoxF16', halfPrecision),
  rotateNeox('rotateNeoxF32', singlePrecision),
  scale('scaleF16', halfPrecision),
  scale('scaleF32', singlePrecision),
  gatherRows,
];
const instance = new WebAssembly.Instance(new WebAssembly.Module(assemble(functions)), { env: { memory } });

/** Vector arithmetic on K/V in WebAssembly, on bytes in the workspace and in memory that was lent. */
export const kernels = instance.exports as VectorKernels;

let workspaceView = new Uint8Array(memory.buffer);

/**
 * Half a megabyte that stays in the cache of a core, at address 0. Its content lasts until the next call of anything
 * in this room.
 */
export function workspace(): Uint8Array {
  return workspaceView;
}

/**
 * Memory in which the kernels can write a result, not cleared. It is the same memory each time, so that its pages are
 * there already, and it is never given back: the next call ends the loan, and may leave the bytes without length.
 */
export function lendMemory(sizeBytes: number): Uint8Array<ArrayBuffer> {
  const missing = WORKSPACE_BYTES + sizeBytes - memory.buffer.byteLength;
  if (missing > 0) {
    memory.grow(Math.ceil(missing / PAGE_BYTES));
    workspaceView = new Uint8Array(memory.buffer, 0, WORKSPACE_BYTES);
  }
  return new Uint8Array(memory.buffer, WORKSPACE_BYTES, sizeBytes);
}

/** Where bytes that were lent lie for the kernels. @throws RangeError for bytes that lie elsewhere */
export function addressOf(lent: Uint8Array): number {
  if (lent.buffer !== memory.buffer) throw new RangeError('these bytes do not lie in the memory of the kernels');
  return lent.byteOffset;
}
