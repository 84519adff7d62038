import { readFileSync } from 'node:fs';

/** A small GGUF file, whole in memory: the values of its header, and its tensors of 32-bit floats. */
export interface GgufTensors {
  readonly header: ReadonlyMap<string, unknown>;
  /** The numbers of a tensor; a matrix has one row of inputs for each output. */
  readonly tensor: (name: string) => Float32Array;
  readonly has: (name: string) => boolean;
}

const ALIGNMENT = 32;
const F32 = 0;

/** @throws Error for a tensor that is missing or has another type than F32 */
export function readGgufTensors(path: string): GgufTensors {
  const bytes = readFileSync(path);
  const reader = new GgufReader(bytes);
  reader.skip(8);
  const tensorCount = reader.u64();
  const pairCount = reader.u64();
  const header = new Map(Array.from({ length: pairCount }, () => [reader.text(), reader.value(reader.u32())] as const));
  const tensors = new Map(
    Array.from({ length: tensorCount }, () => {
      const name = reader.text();
      const dimensions = Array.from({ length: reader.u32() }, () => reader.u64());
      const size = dimensions.reduce((product, dimension) => product * dimension, 1);
      return [name, { size, type: reader.u32(), offset: reader.u64() }] as const;
    }),
  );
  const dataAt = Math.ceil(reader.offset / ALIGNMENT) * ALIGNMENT;
  return {
    header,
    has: (name) => tensors.has(name),
    tensor: (name) => {
      const found = tensors.get(name);
      if (found?.type !== F32) throw new Error(`${path}: no tensor ${name} of 32-bit floats`);
      const start = bytes.byteOffset + dataAt + found.offset;
      return new Float32Array(bytes.buffer.slice(start, start + 4 * found.size));
    },
  };
}

class GgufReader {
  readonly #bytes: Buffer;
  offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  skip(bytes: number): number {
    this.offset += bytes;
    return this.offset - bytes;
  }

  u32(): number {
    return this.#bytes.readUInt32LE(this.skip(4));
  }

  u64(): number {
    return Number(this.#bytes.readBigUInt64LE(this.skip(8)));
  }

  text(): string {
    const length = this.u64();
    return this.#bytes.toString('utf8', this.skip(length), this.offset);
  }

  /** The types that the random models use. */
  value(type: number): unknown {
    switch (type) {
      case 4:
        return this.u32();
      case 5:
        return this.#bytes.readInt32LE(this.skip(4));
      case 6:
        return this.#bytes.readFloatLE(this.skip(4));
      case 7:
        return this.#bytes.readUInt8(this.skip(1)) === 1;
      case 8:
        return this.text();
      case 9: {
        const elementType = this.u32();
        return Array.from({ length: this.u64() }, () => this.value(elementType));
      }
      default:
        throw new Error(`a header value of type ${type}`);
    }
  }
}
