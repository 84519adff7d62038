import { createHash } from 'node:crypto';

/** A short name for what a stored copy consists of: a copy of another layout is made anew. @param parts data that JSON has */
export function layoutName(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}
