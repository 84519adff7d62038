import { deflateSync, inflateSync } from 'node:zlib';
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

/** A JSON document in a blob column, compressed by zlib. */
export const deflatedJson = customType<{ data: unknown; driverData: Buffer | null }>({
  dataType: () => 'blob',
  toDriver: (value) => (value === null || value === undefined ? null : deflateSync(JSON.stringify(value))),
  fromDriver: (blob) => (blob === null ? null : (JSON.parse(inflateSync(blob).toString()) as unknown)),
});

/** A vector in a blob column: float32 in the machine's byte order (little-endian), without a header. */
export const float32 = customType<{ data: Float32Array | null; driverData: Buffer | null }>({
  dataType: () => 'blob',
  toDriver: (vector) => (vector === null ? null : Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)),
  // Copied, because a blob may start at an offset where no Float32Array can.
  fromDriver: (blob) => (blob === null ? null : new Float32Array(new Uint8Array(blob).buffer)),
});
