/** 32 bits, as GGUF writes them: little-endian. */
export function u32(value: number): Buffer {
  return Buffer.from(Uint32Array.of(value).buffer);
}

/** 64 bits; a negative number in two's complement. */
export function u64(value: number): Buffer {
  return Buffer.from(BigUint64Array.of(BigInt.asUintN(64, BigInt(value))).buffer);
}

/** A text: its length in bytes, then its bytes in UTF-8. */
export function lengthAndText(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}
