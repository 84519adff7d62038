import { randomBytes } from 'node:crypto';

const COUNTER_BITS = 12n;
let last = 0n;

/** A UUID of version 7 that sorts after all earlier ones of this process, even if the clock steps back. @see RFC 9562 */
export function timeOrderedId(nowMs: number = Date.now()): string {
  const earliest = BigInt(nowMs) << COUNTER_BITS;
  last = earliest > last ? earliest : last + 1n;
  const time = last.toString(16).padStart(15, '0');
  const random = randomBytes(8);
  random[0] = (random[0]! & 0x3f) | 0x80;
  const rest = random.toString('hex');
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-7${time.slice(12)}-${rest.slice(0, 4)}-${rest.slice(4)}`;
}
