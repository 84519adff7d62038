import type { NumberType, Rotary } from '../engine/sequence-state.ts';
import { instantiate } from './kernel-memory.ts';
import { halfPrecision, type NumberCode, NUMBERS_AT_ONCE, singlePrecision } from './number-code.ts';
import {
  advance,
  type Code,
  type DeclareLocal,
  f32x4,
  i32,
  type Local,
  v128,
  VECTOR_BYTES,
  type WasmFunction,
  whileBelow,
} from './wasm-assembler.ts';

/** All that the code of a rotation depends on. */
export interface RotationShape {
  readonly pairing: Rotary['pairing'];
  readonly type: NumberType;
  /** Numbers of a vector that are rotated, a multiple of 8; where the pairs are (i, i + dimensions/2), at least 16. */
  readonly dimensions: number;
  /** Numbers of a vector. */
  readonly headDimension: number;
}

/**
 * Rotates vectors that lie one behind the other, from one place into another that it does not touch; numbers that are not
 * rotated are neither read nor written. Gives 1 where a number is not finite, or too large to be rotated.
 * @param angles address of the cosines of a vector, and behind them as many sines, times the unit in which numbers of
 * the type are read: one a pair (i, i + dimensions/2); one a number of the pairs (2i, 2i+1), the first sine negated
 */
export type Rotate = (source: number, sourceEnd: number, target: number, angles: number) => number;

const FLOAT_BYTES = 4;
/** Numbers in a vector of 32-bit floats. */
const FLOATS = VECTOR_BYTES / FLOAT_BYTES;
/** 46336: of two numbers that are rotated, one is as large where one was 65536, as infinity is read, or larger. */
const HALF_LARGEST_ROTATED = 0x79a8;

const known = new Map<string, Rotate>();

/** The function that rotates vectors of that shape, its code written without a loop through the vector. */
export function rotationKernel(shape: RotationShape): Rotate {
  const { pairing, type, dimensions, headDimension } = shape;
  const name = `${pairing} ${type} ${dimensions}/${headDimension}`;
  const kernel = known.get(name) ?? (instantiate([rotation(name, shape)]) as Record<string, Rotate>)[name]!;
  known.set(name, kernel);
  return kernel;
}

/** Places and numbers that the code for a group of numbers works with. */
interface Vector {
  readonly numbers: NumberCode;
  readonly source: Local;
  readonly target: Local;
  /** Reads the cosines and sines of four numbers, or of four pairs, from the given one on. */
  readonly cosines: (from: number) => Code;
  readonly sines: (from: number) => Code;
}

function rotation(name: string, { pairing, type, dimensions, headDimension }: RotationShape): WasmFunction {
  return {
    name,
    parameters: ['i32', 'i32', 'i32', 'i32'],
    body: ([source, sourceEnd, target, table], declare) => {
      const numbers = type === 'F16' ? halfPrecision(declare) : singlePrecision(declare);
      const angles = pairing === 'norm' ? dimensions : dimensions / 2;
      const vector: Vector = {
        numbers,
        source: source!,
        target: target!,
        cosines: (from) => v128.load(at(table!, from * FLOAT_BYTES)),
        sines: (from) => v128.load(at(table!, (angles + from) * FLOAT_BYTES)),
      };
      const rotateOne = pairing === 'norm' ? rotateNorm : rotateNeox;
      const vectorBytes = i32.const(headDimension * numbers.elementBytes);
      return [
        ...whileBelow(source!, sourceEnd!.get, vectorBytes, [
          ...rotateOne(vector, dimensions, declare),
          ...advance(target!, vectorBytes),
        ]),
        ...numbers.exceeds(HALF_LARGEST_ROTATED),
      ];
    },
  };
}

/** Pairs (2i, 2i+1). */
function rotateNorm(vector: Vector, dimensions: number, declare: DeclareLocal): Code {
  const { numbers, source, target, cosines, sines } = vector;
  const halves = [declare('v128'), declare('v128')] as const;
  const rotateHalf = (half: Local, from: number): Code =>
    half.set(f32x4.add(f32x4.mul(half.get, cosines(from)), f32x4.mul(v128.swapPairs(half.get), sines(from))));
  return groupsOf(dimensions).flatMap((from) => [
    ...numbers.load(at(source, from * numbers.elementBytes), ...halves),
    ...halves.flatMap((half, index) => rotateHalf(half, from + index * FLOATS)),
    ...numbers.store(at(target, from * numbers.elementBytes), ...halves),
  ]);
}

/** Pairs (i, i + dimensions/2). */
function rotateNeox(vector: Vector, dimensions: number, declare: DeclareLocal): Code {
  const { numbers, source, target, cosines, sines } = vector;
  const [firsts, seconds] = [0, 1].map(() => [declare('v128'), declare('v128')] as const);
  const [cosine, sine, rotated] = [declare('v128'), declare('v128'), declare('v128')];
  const rotateHalf = (first: Local, second: Local, from: number): Code => [
    ...cosine.set(cosines(from)),
    ...sine.set(sines(from)),
    ...rotated.set(f32x4.sub(f32x4.mul(first.get, cosine.get), f32x4.mul(second.get, sine.get))),
    ...second.set(f32x4.add(f32x4.mul(second.get, cosine.get), f32x4.mul(first.get, sine.get))),
    ...first.set(rotated.get),
  ];
  const pairs = dimensions / 2;
  return groupsOf(pairs).flatMap((from) => [
    ...numbers.load(at(source, from * numbers.elementBytes), ...firsts!),
    ...numbers.load(at(source, (pairs + from) * numbers.elementBytes), ...seconds!),
    ...firsts!.flatMap((first, index) => rotateHalf(first, seconds![index]!, from + index * FLOATS)),
    ...numbers.store(at(target, from * numbers.elementBytes), ...firsts!),
    ...numbers.store(at(target, (pairs + from) * numbers.elementBytes), ...seconds!),
  ]);
}

/** Beginnings of the groups that go through so many numbers; the last may overlap the one before. */
function groupsOf(count: number): number[] {
  return Array.from({ length: Math.ceil(count / NUMBERS_AT_ONCE) }, (_, group) =>
    Math.min(group * NUMBERS_AT_ONCE, count - NUMBERS_AT_ONCE),
  );
}

function at(address: Local, bytes: number): Code {
  return i32.add(address.get, i32.const(bytes));
}
