import { createHash } from 'node:crypto';
import type { TokenId } from '../../../engine/token-id.ts';

/** sha-256 of token ids, 32 bits each, in hex. */
export function hashIds(ids: readonly TokenId[]): string {
  return createHash('sha256').update(Int32Array.from(ids)).digest('hex');
}
