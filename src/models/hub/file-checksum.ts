import { pipeline } from 'node:stream/promises';
import { createReadStream, statSync } from 'node:fs';
import { createHash } from 'node:crypto';

export interface FileChecksum {
  /** The hub gives a sha-256 for large files, and a git blob id for small ones: the sha-1 of their length and bytes. */
  readonly kind: 'sha-256' | 'git blob';
  readonly value: string;
}

export async function fileChecksum(path: string, kind: FileChecksum['kind'] = 'sha-256'): Promise<string> {
  const hash = createHash(kind === 'sha-256' ? 'sha256' : 'sha1');
  if (kind === 'git blob') hash.update(`blob ${statSync(path).size}\0`);
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
