import { createHash } from 'node:crypto';

/**
 * Derives a UUID from a name: the id of a group in every store. Names themselves never reach a store, so none can act as a
 * pattern, a separator or a statement.
 */
export function deriveUuid(name: string): string {
  // In UTF-16, where different unpaired surrogates stay different.
  const hex = createHash('sha256').update(name, 'utf16le').digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
