/** Bytes of WebAssembly instructions. */
export type Code = readonly number[];

type ValueType = 'i32' | 'f32' | 'v128';

/** Bytes of a vector. */
export const VECTOR_BYTES = 16;

/** A parameter or a variable of a function. */
export interface Local {
  readonly get: Code;
  set(value: Code): Code;
}

/** Declares the variables of the function whose body is being written. */
export type DeclareLocal = (type: ValueType) => Local;

/** One exported function; its body leaves one 32-bit integer, its result. */
export interface WasmFunction {
  readonly name: string;
  readonly parameters: readonly ValueType[];
  readonly body: (parameters: readonly Local[], declare: DeclareLocal) => Code;
}

const TYPE_BYTE: Readonly<Record<ValueType, number>> = { i32: 0x7f, f32: 0x7d, v128: 0x7b };
const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const VECTOR_PREFIX = 0xfd;
const EMPTY_BLOCK = 0x40;
const RESULT = [1, 0x7f];

function unsigned(value: number): number[] {
  const rest = Math.floor(value / 128);
  return rest === 0 ? [value] : [(value % 128) | 0x80, ...unsigned(rest)];
}

function signed(value: number): number[] {
  const low = value & 0x7f;
  const rest = value >> 7;
  const fits = (rest === 0 && low < 0x40) || (rest === -1 && low >= 0x40);
  return fits ? [low] : [low | 0x80, ...signed(rest)];
}

/** An instruction that takes its operands from the stack, in the order given. */
function instruction(...code: number[]): (...operands: readonly Code[]) => Code {
  return (...operands) => [...operands.flat(), ...code];
}

function vector(opcode: number): (...operands: readonly Code[]) => Code {
  return instruction(VECTOR_PREFIX, ...unsigned(opcode));
}

/** A vector instruction on memory: no alignment is promised, and the address carries the whole offset. */
function vectorMemory(opcode: number): (...operands: readonly Code[]) => Code {
  return instruction(VECTOR_PREFIX, ...unsigned(opcode), 0, 0);
}

/** The bytes of two vectors, 0 to 15 and 16 to 31, in another order. */
function shuffle(...lanes: number[]): (...operands: readonly Code[]) => Code {
  return instruction(VECTOR_PREFIX, 0x0d, ...lanes);
}

export const i32 = {
  const: (value: number): Code => [0x41, ...signed(value)],
  load: instruction(0x28, 0, 0),
  store: instruction(0x36, 0, 0),
  add: instruction(0x6a),
  mul: instruction(0x6c),
  shiftLeft: instruction(0x74),
  lessThan: instruction(0x49),
};

export const v128 = {
  load: vectorMemory(0x00),
  /** Eight times the 16 bits at an address. */
  loadSplat16: vectorMemory(0x08),
  /** The first 64 bits alone. */
  load64: vectorMemory(0x5d),
  store64: (address: Code, value: Code): Code => [...address, ...value, VECTOR_PREFIX, 0x5b, 0, 0, 0],
  store: vectorMemory(0x0b),
  and: vector(0x4e),
  or: vector(0x50),
  anyTrue: vector(0x53),
  /** Exchanges the numbers of each pair of 32-bit numbers. */
  swapPairs: (value: Code): Code => shuffle(4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11)(value, value),
};

export const i8x16 = {
  shiftRight: vector(0x6d),
  sub: vector(0x71),
};

export const i16x8 = {
  /** The first eight of sixteen signed 8-bit numbers, and the last eight. */
  extendLow: vector(0x87),
  extendHigh: vector(0x88),
  shiftLeft: vector(0x8b),
  shiftRightSigned: vector(0x8c),
  /** Four 32-bit numbers, of the first four of two times eight: of their lower halves, and of their upper ones. */
  interleaveLow: shuffle(0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23),
  /** The same of the last four. */
  interleaveHigh: shuffle(8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31),
  /** Eight 16-bit numbers of two times four signed 32-bit numbers, clamped. */
  narrowSigned: vector(0x85),
  /** The same, clamped to 0 … 65535. */
  narrowUnsigned: vector(0x86),
  greaterEqualUnsigned: vector(0x36),
  minUnsigned: vector(0x97),
  maxUnsigned: vector(0x99),
};

export const i32x4 = {
  /** Four 32-bit numbers, of the first two of two times four, and of the last two. */
  interleaveLow: shuffle(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23),
  interleaveHigh: shuffle(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31),
  /** The first four of eight signed 16-bit numbers, and the last four. */
  extendLow: vector(0xa7),
  extendHigh: vector(0xa8),
  const: (value: number): Code => {
    const bytes = [value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24];
    return [VECTOR_PREFIX, 0x0c, ...bytes, ...bytes, ...bytes, ...bytes];
  },
  greaterEqualUnsigned: vector(0x40),
  add: vector(0xae),
  sub: vector(0xb1),
  maxUnsigned: vector(0xb9),
  /** The sums of the products of neighbouring 16-bit numbers, signed. */
  dot: vector(0xba),
};

export const f32x4 = {
  const: (value: number): Code => i32x4.const(new Int32Array(Float32Array.of(value).buffer)[0]!),
  splat: vector(0x13),
  add: vector(0xe4),
  sub: vector(0xe5),
  mul: vector(0xe6),
  /** Of signed 32-bit numbers. */
  fromIntegers: vector(0xfa),
};

/** Copies bytes: target address, source address, length. */
export const copyMemory = instruction(0xfc, 0x0a, 0x00, 0x00);

/** Runs the body once, and again as long as the condition behind it holds. */
function doWhile(body: Code, condition: Code): Code {
  return [0x03, EMPTY_BLOCK, ...body, ...condition, 0x0d, 0x00, 0x0b];
}

/** Advances an address. */
export function advance(address: Local, bytes: Code): Code {
  return address.set(i32.add(address.get, bytes));
}

/** Runs the body, advances the address, and goes on while it is below the end. */
export function whileBelow(address: Local, end: Code, stepBytes: Code, body: Code): Code {
  return doWhile([...body, ...advance(address, stepBytes)], i32.lessThan(address.get, end));
}

function sized(bytes: readonly number[]): number[] {
  return [...unsigned(bytes.length), ...bytes];
}

function list(items: readonly (readonly number[])[]): number[] {
  return [...unsigned(items.length), ...items.flat()];
}

function text(value: string): number[] {
  return sized([...new TextEncoder().encode(value)]);
}

function codeOf(fn: WasmFunction): number[] {
  const types: ValueType[] = [];
  const local = (index: number): Local => ({
    get: [0x20, ...unsigned(index)],
    set: (value) => [...value, 0x21, ...unsigned(index)],
  });
  const declare: DeclareLocal = (type) => local(fn.parameters.length + types.push(type) - 1);
  const body = fn.body(
    fn.parameters.map((_, index) => local(index)),
    declare,
  );
  return sized([...list(types.map((type) => [1, TYPE_BYTE[type]])), ...body, 0x0b]);
}

/**
 * The binary of a WebAssembly module that imports its memory as `env.memory` and exports the functions by name.
 * @see https://webassembly.github.io/spec/core/binary/index.html
 */
export function assemble(functions: readonly WasmFunction[]): Uint8Array {
  const section = (id: number, content: readonly number[]): number[] => [id, ...sized(content)];
  return Uint8Array.from([
    ...HEADER,
    ...section(
      1,
      list(functions.map(({ parameters }) => [0x60, ...list(parameters.map((type) => [TYPE_BYTE[type]])), ...RESULT])),
    ),
    ...section(2, list([[...text('env'), ...text('memory'), 0x02, 0x00, 0x01]])),
    ...section(3, list(functions.map((_, index) => unsigned(index)))),
    ...section(7, list(functions.map(({ name }, index) => [...text(name), 0x00, ...unsigned(index)]))),
    ...section(10, list(functions.map(codeOf))),
  ]);
}
