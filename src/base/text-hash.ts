import { createHash } from 'node:crypto';

const HASH = /^sha256:[0-9a-f]{64}$/;

/**
 * A name that stands in place of a text: `sha256:` and the digest of its UTF-8 bytes. Equal texts have equal names. An empty text
 * and a name stay as they are. A short text can be found by trying: a name hides no more than its text is hard to guess.
 */
export function textHash(text: string): string {
  return text === '' || HASH.test(text) ? text : `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
