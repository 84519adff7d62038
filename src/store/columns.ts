import { customType } from 'drizzle-orm/sqlite-core';

/**
 * A JSON document in a text column. Unlike drizzle's own `text({ mode: 'json' })` it writes NULL for `null`
 * in prepared statements too, where drizzle would write the four letters of the JSON literal.
 */
export const json = customType<{ data: unknown; driverData: string | null }>({
  dataType: () => 'text',
  toDriver: (value) => (value === null || value === undefined ? null : JSON.stringify(value)),
  fromDriver: (text) => (text === null ? null : (JSON.parse(text) as unknown)),
});

/** The bytes of a list of numbers, as they stand in memory. */
function blobOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** A vector in a blob column: float32 in the machine's byte order (little-endian), without a header. */
export const float32 = customType<{ data: Float32Array | null; driverData: Buffer | null }>({
  dataType: () => 'blob',
  toDriver: (vector) => (vector === null ? null : blobOf(vector)),
  // Copied, because a blob may start at an offset where no Float32Array can.
  fromDriver: (blob) => (blob === null ? null : new Float32Array(new Uint8Array(blob).buffer)),
});

/** A list of numbers in a blob column: float64 in the machine's byte order (little-endian), without a header. */
export const float64 = customType<{ data: Float64Array; driverData: Buffer }>({
  dataType: () => 'blob',
  toDriver: blobOf,
  fromDriver: (blob) => new Float64Array(new Uint8Array(blob).buffer),
});

/** Bytes in a blob column. */
export const bytes = customType<{ data: Uint8Array<ArrayBuffer>; driverData: Buffer }>({
  dataType: () => 'blob',
  toDriver: blobOf,
  fromDriver: (blob) => new Uint8Array(blob),
});
