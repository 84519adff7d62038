import type { NumberType } from '../engine/sequence-state.ts';
import {
  type Code,
  type DeclareLocal,
  f32x4,
  i16x8,
  i32,
  i32x4,
  type Local,
  v128,
  VECTOR_BYTES,
} from './wasm-assembler.ts';

/** Code that reads numbers of a stored type into 32-bit floats and writes them back, eight at a time: two times four. */
export interface NumberCode {
  readonly elementBytes: 2 | 4;
  /** The factor that numbers must be multiplied by after `load`; their first factor can carry it. */
  readonly unit: number;
  load(address: Code, first: Local, second: Local): Code;
  store(address: Code, first: Local, second: Local): Code;
  /** Takes note of numbers that are about to be read: eight, from the address on. */
  note(address: Code): Code;
  /** 1 where a number noted or stored was not finite, or of at least `limit` in half precision; otherwise 0. */
  exceeds(limit: number): Code;
}

/** Numbers that a kernel reads and writes at once. */
export const NUMBERS_AT_ONCE = 8;

/** Bits of half precision, moved to where a 32-bit float has them, stand for exactly 2^-112 of the number. */
export const NUMBER_UNIT: Readonly<Record<NumberType, number>> = { F16: 2 ** 112, F32: 1 };

const MAGNITUDE = 0x7fffffff;
const EXPONENT = 0x7f800000;
const HALF_MAGNITUDES = 0x7fff7fff;
const LARGEST_HALVES = 0x7bff7bff;

/**
 * IEEE half precision, subnormal numbers included, rounded to the nearest, ties to even; what is not finite is not
 * converted but noted.
 * @param tooLarge what becomes of finite numbers beyond the largest: noted as not finite, or stored as the largest
 */
export function halfPrecision(declare: DeclareLocal, tooLarge: 'noted' | 'largest' = 'noted'): NumberCode {
  const [low, high, power, largest] = [declare('v128'), declare('v128'), declare('v128'), declare('v128')];
  const constant = i32x4.const;
  const note = (magnitudes: Code): Code => largest.set(i16x8.maxUnsigned(largest.get, magnitudes));

  /** The bits of four magnitudes, each in 32 bits. */
  const encode = (target: Local, value: Local): Code => [
    // 2^13 times the power of two of the value, at least that of the smallest normal number.
    ...power.set(i32x4.maxUnsigned(v128.and(value.get, constant(EXPONENT)), constant(0x38800000))),
    ...power.set(i32x4.add(power.get, constant(0x06800000))),
    // Adding it leaves eleven bits of the value, rounded by the addition itself, at the end of the mantissa.
    ...target.set(f32x4.add(v128.and(value.get, constant(MAGNITUDE)), power.get)),
    // Those are the lower 16 bits and the exponent the upper ones, 2^7 times: the sum is half precision with its bias.
    ...target.set(i32x4.sub(i32x4.dot(target.get, constant(0x00080001)), constant(0x1f800))),
  ];
  return {
    elementBytes: 2,
    unit: NUMBER_UNIT.F16,
    load: (address, first, second) => [
      ...low.set(v128.load(address)),
      // Sign, exponent and the first seven bits of the mantissa; the other three bits stand in the lower half.
      ...high.set(v128.and(i16x8.shiftRightSigned(low.get, i32.const(3)), constant(0x8fff8fff))),
      ...low.set(i16x8.shiftLeft(low.get, i32.const(13))),
      ...first.set(i16x8.interleaveLow(low.get, high.get)),
      ...second.set(i16x8.interleaveHigh(low.get, high.get)),
    ],
    store: (address, first, second) => [
      ...encode(low, first),
      ...encode(high, second),
      ...low.set(i16x8.narrowUnsigned(low.get, high.get)),
      ...(tooLarge === 'noted' ? note(low.get) : low.set(i16x8.minUnsigned(low.get, constant(LARGEST_HALVES)))),
      // Clamping to 16 bits keeps the sign.
      ...low.set(v128.or(low.get, v128.and(i16x8.narrowSigned(first.get, second.get), constant(0x80008000)))),
      ...v128.store(address, low.get),
    ],
    note: (address) => note(v128.and(v128.load(address), constant(HALF_MAGNITUDES))),
    exceeds: (limit) => v128.anyTrue(i16x8.greaterEqualUnsigned(largest.get, constant(limit * 0x10001))),
  };
}

/** 32-bit floats as they are. */
export function singlePrecision(declare: DeclareLocal): NumberCode {
  const largest = declare('v128');
  const note = (value: Code): Code =>
    largest.set(i32x4.maxUnsigned(largest.get, v128.and(value, i32x4.const(MAGNITUDE))));
  return {
    elementBytes: 4,
    unit: NUMBER_UNIT.F32,
    load: (address, first, second) => [
      ...first.set(v128.load(address)),
      ...second.set(v128.load(i32.add(address, i32.const(VECTOR_BYTES)))),
    ],
    store: (address, first, second) => [
      ...note(first.get),
      ...note(second.get),
      ...v128.store(address, first.get),
      ...v128.store(i32.add(address, i32.const(VECTOR_BYTES)), second.get),
    ],
    // What is not finite stays so through every product and sum, and is noted when it is stored.
    note: () => [],
    exceeds: () => v128.anyTrue(i32x4.greaterEqualUnsigned(largest.get, i32x4.const(0x7f800000))),
  };
}
