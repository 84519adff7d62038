import { createHash } from 'node:crypto';

const HASH = /^sha256:[0-9a-f]{64}$/;

/**
 * The hash that is stored instead of a private text: `sha256:` and the digest of its UTF-8 bytes. An empty text and a hash stay
 * as they are. A hash protects only texts that are hard to guess: short ones can be found by brute force.
 */
export function privateTextHash(text: string): string {
  return text === '' || HASH.test(text) ? text : `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
