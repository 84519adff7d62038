import { crc32 } from 'node:zlib';

/**
 * Separates held-out values from those of training: a value is held out if and only if crc32 of its lower-case UTF-8 text
 * is a multiple of ten.
 */
export function isHeldOutValue(value: string): boolean {
  return crc32(value.toLowerCase()) % 10 === 0;
}

/** Draws until the value is held out, or is not, as wanted. */
export function drawn(heldOut: boolean, draw: () => string): string {
  for (;;) {
    const value = draw();
    if (isHeldOutValue(value) === heldOut) return value;
  }
}
