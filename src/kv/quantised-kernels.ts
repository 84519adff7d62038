import type { NumberType } from '../engine/sequence-state.ts';
import type { QuantisedType } from '../store/records/store-type.ts';
import { instantiate } from './kernel-memory.ts';
import { halfPrecision, NUMBER_UNIT, NUMBERS_AT_ONCE, singlePrecision } from './number-code.ts';
import {
  advance,
  type Code,
  f32x4,
  i16x8,
  i32,
  i32x4,
  i8x16,
  type Local,
  v128,
  VECTOR_BYTES,
  type WasmFunction,
  whileBelow,
} from './wasm-assembler.ts';

/**
 * Restores blocks of 32 numbers, one behind the other, in the memory of the kernels; of what is too large the largest number. Gives 1
 * where a scale is not finite.
 */
type Restore = (source: number, sourceEnd: number, target: number) => number;

const SCALE_BYTES = 2;
const HALF_INFINITIES = 0x7c007c00;
const HALF_MAGNITUDES = 0x7fff7fff;
/** Each of 16 numbers of 4 bits is stored above its value by this. */
const OFFSET_4_BITS = 0x08080808;
const LOWER_4_BITS = 0x0f0f0f0f;

function restore(type: QuantisedType, into: NumberType): WasmFunction {
  return {
    name: nameOf(type, into),
    parameters: ['i32', 'i32', 'i32'],
    body: ([source, sourceEnd, target], declare) => {
      const numbers = into === 'F16' ? halfPrecision(declare, 'largest') : singlePrecision(declare);
      const [scale, magnitudes, bytes, half] = [0, 1, 2, 3].map(() => declare('v128')) as [Local, Local, Local, Local];
      const [first, second] = [declare('v128'), declare('v128')];
      /** Four times the number that the 16 bits at the source stand for. */
      const readScale: Code = [
        ...half.set(v128.loadSplat16(source!.get)),
        ...magnitudes.set(i16x8.maxUnsigned(magnitudes.get, v128.and(half.get, i32x4.const(HALF_MAGNITUDES)))),
        ...scale.set(v128.and(i16x8.shiftRightSigned(half.get, i32.const(3)), i32x4.const(0x8fff8fff | 0))),
        ...scale.set(i16x8.interleaveLow(i16x8.shiftLeft(half.get, i32.const(13)), scale.get)),
        ...scale.set(f32x4.mul(scale.get, f32x4.const(NUMBER_UNIT.F16))),
      ];
      const scaled = (integers: Code): Code => f32x4.mul(f32x4.fromIntegers(integers), scale.get);
      /** Sixteen numbers, of as many signed bytes. */
      const store16 = (at: number): Code =>
        [i16x8.extendLow, i16x8.extendHigh].flatMap((extend, index) => [
          ...half.set(extend(bytes.get)),
          ...first.set(scaled(i32x4.extendLow(half.get))),
          ...second.set(scaled(i32x4.extendHigh(half.get))),
          ...numbers.store(
            i32.add(target!.get, i32.const((at + index * NUMBERS_AT_ONCE) * numbers.elementBytes)),
            first,
            second,
          ),
        ]);
      const bytesAt = (at: number): Code => v128.load(i32.add(source!.get, i32.const(SCALE_BYTES + at)));
      const fourBits = (packed: Code): Code => i8x16.sub(packed, i32x4.const(OFFSET_4_BITS));
      const restoreBlock: Code =
        type === 'q8_0'
          ? [0, VECTOR_BYTES].flatMap((at) => [...bytes.set(bytesAt(at)), ...store16(at)])
          : [
              ...bytes.set(fourBits(v128.and(bytesAt(0), i32x4.const(LOWER_4_BITS)))),
              ...store16(0),
              ...bytes.set(fourBits(i8x16.shiftRight(bytesAt(0), i32.const(4)))),
              ...store16(VECTOR_BYTES),
            ];
      const blockBytes = SCALE_BYTES + (type === 'q8_0' ? 2 : 1) * VECTOR_BYTES;
      return [
        ...whileBelow(source!, sourceEnd!.get, i32.const(blockBytes), [
          ...readScale,
          ...restoreBlock,
          ...advance(target!, i32.const(2 * VECTOR_BYTES * numbers.elementBytes)),
        ]),
        ...v128.anyTrue(i16x8.greaterEqualUnsigned(magnitudes.get, i32x4.const(HALF_INFINITIES))),
      ];
    },
  };
}

function nameOf(type: QuantisedType, into: NumberType): string {
  return `restore ${type} as ${into}`;
}

const kernels = instantiate([
  restore('q8_0', 'F16'),
  restore('q8_0', 'F32'),
  restore('q4_0', 'F16'),
  restore('q4_0', 'F32'),
]) as Readonly<Record<string, Restore>>;

/** The function that restores numbers of a type at rest into numbers of the engine's type. */
export function restoreKernel(type: QuantisedType, into: NumberType): Restore {
  return kernels[nameOf(type, into)]!;
}
