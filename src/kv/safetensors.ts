import { z } from 'zod';

const typeBytes = { F32: 4, F16: 2, BF16: 2, I32: 4, I64: 8 } as const;

export type TensorType = keyof typeof typeBytes;

/** A tensor in row-major order, little-endian. */
export interface Tensor {
  readonly type: TensorType;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** The contents of a safetensors file. */
export interface Safetensors {
  readonly metadata: Readonly<Record<string, string>>;
  readonly tensors: ReadonlyMap<string, Tensor>;
}

const LENGTH_BYTES = 8;
const METADATA = '__metadata__';

const size = z.int().nonnegative();
const entry = z.object({
  dtype: z.enum(Object.keys(typeBytes) as TensorType[]),
  shape: z.array(size),
  data_offsets: z.tuple([size, size]),
});
const headerShape = z.object({ [METADATA]: z.record(z.string(), z.string()).default({}) }).catchall(entry);

/**
 * Reads a safetensors file: the length of the header in 8 bytes, the header as JSON, then the data. Tensors are views of the bytes.
 * @throws Error saying what is wrong with the file
 * @see https://github.com/huggingface/safetensors#format
 */
export function readSafetensors(bytes: Uint8Array): Safetensors {
  if (bytes.length < LENGTH_BYTES) throw new Error('it is too short for a safetensors file');
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  const dataAt = LENGTH_BYTES + length;
  if (dataAt > bytes.length) throw new Error('its header is cut short, or it is no safetensors file');
  const { [METADATA]: metadata, ...entries } = parseHeader(
    new TextDecoder().decode(bytes.subarray(LENGTH_BYTES, dataAt)),
  );
  const tensors = Object.entries(entries as Readonly<Record<string, z.output<typeof entry>>>).map(([name, found]) => {
    const { dtype: type, shape, data_offsets: offsets } = found;
    const [start, end] = offsets.map((offset) => dataAt + offset) as [number, number];
    const expected = shape.reduce((product, extent) => product * extent, typeBytes[type]);
    if (end > bytes.length || end - start !== expected) {
      throw new Error(`tensor ${name} is cut short: ${type} [${shape.join(', ')}] takes ${expected} bytes`);
    }
    return [name, { type, shape, bytes: bytes.subarray(start, end) }] as const;
  });
  return { metadata, tensors: new Map(tensors) };
}

function parseHeader(text: string): z.output<typeof headerShape> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error('its header is not JSON: it is no safetensors file');
  }
  const header = headerShape.safeParse(json);
  if (header.success) return header.data;
  const [{ path, message }] = header.error.issues as [z.core.$ZodIssue];
  throw new Error(`its header has an invalid field: ${path.join('.')}: ${message}`);
}

export function writeSafetensors({ metadata, tensors }: Safetensors): Uint8Array {
  let end = 0;
  const entries = [...tensors].map(([name, { type: dtype, shape, bytes }]) => {
    const start = end;
    end += bytes.length;
    return [name, { dtype, shape, data_offsets: [start, end] }] as const;
  });
  const json = JSON.stringify({ [METADATA]: metadata, ...Object.fromEntries(entries) });
  // Padded with spaces, so that the data are aligned.
  const text = new TextEncoder().encode(json);
  const header = new Uint8Array(Math.ceil(text.length / LENGTH_BYTES) * LENGTH_BYTES).fill(0x20);
  header.set(text);
  const length = new Uint8Array(new BigUint64Array([BigInt(header.length)]).buffer);
  return Buffer.concat([length, header, ...[...tensors.values()].map(({ bytes }) => bytes)]);
}
