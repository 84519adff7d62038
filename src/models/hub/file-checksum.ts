import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** Checksum of a file, as the hub states it. */
export interface FileChecksum {
  /** Large files have a sha-256; small ones a git blob, the sha-1 of their length and bytes. */
  readonly kind: 'sha-256' | 'git blob';
  /** In hex. */
  readonly value: string;
}

/** Reads a checksum from an entity tag; undefined for any other tag. */
export function checksumOfTag(tag: string): FileChecksum | undefined {
  const value = /^(?:W\/)?"?([0-9a-f]+)"?$/.exec(tag)?.[1];
  if (value?.length === 64) return { kind: 'sha-256', value };
  if (value?.length === 40) return { kind: 'git blob', value };
  return undefined;
}

/** Computes the checksum of a file, in hex. */
export async function checksumOfFile(path: string, kind: FileChecksum['kind']): Promise<string> {
  const hash = createHash(kind === 'sha-256' ? 'sha256' : 'sha1');
  if (kind === 'git blob') hash.update(`blob ${statSync(path).size}\0`);
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
