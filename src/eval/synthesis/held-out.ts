import { crc32 } from 'node:zlib';

/**
 * The rule that keeps evaluation apart from training: a value belongs to the evaluation
 * if and only if crc32 of its lower-case UTF-8 text is a multiple of ten.
 */
export function isHeldOutValue(value: string): boolean {
  return crc32(value.toLowerCase()) % 10 === 0;
}

/** Redraws until the value falls on the wanted side of the hash rule. */
export function drawn(heldOut: boolean, draw: () => string): string {
  for (;;) {
    const value = draw();
    if (isHeldOutValue(value) === heldOut) return value;
  }
}
