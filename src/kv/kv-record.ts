import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Checkpoint, checkpointSchema } from '../engine/checkpoint.ts';
import { blockName, markName } from './kv-file-names.ts';

const SHA_256 = /^[0-9a-f]{64}$/;

const common = {
  key: z.string().regex(SHA_256),
  fingerprint: z.string().regex(SHA_256),
  tokens: z.number().int().positive(),
  memoryIds: z.array(z.string()),
};
const recordSchema = z.discriminatedUnion('kind', [
  z.object({ ...common, kind: z.literal('block'), sizeBytes: z.number().int().nonnegative() }),
  z.object({ ...common, kind: z.literal('checkpoint'), checkpoint: checkpointSchema }),
]);

/** The record of KV that is kept: a block, whose bytes lie beside it, or a checkpoint, whose bytes the engine has. */
export type KvRecord = Readonly<z.output<typeof recordSchema>>;

/** Facts that the keeper of KV knows: the tokens that it took to compute, and the memories that it contains. */
export type AboutKv = Pick<KvRecord, 'tokens' | 'memoryIds'>;

/** An entry of a folder, as far as it is known without reading bytes. */
export interface KvEntry extends AboutKv {
  readonly key: string;
  /** Name of the file beside the record: the bytes of a block, or the empty mark of a checkpoint, which names its id. */
  readonly payload: string;
  readonly sizeBytes: number;
}

/** A record that was written for that key in a folder of that name; undefined for damage. */
export function readRecord(text: string, key: string, folder: string): KvRecord | undefined {
  try {
    const record = recordSchema.parse(JSON.parse(text));
    const isIntact = record.key === key && (record.kind === 'block' || isOfFolder(record, folder));
    return isIntact ? record : undefined;
  } catch {
    return undefined;
  }
}

function isOfFolder(record: KvRecord & { readonly kind: 'checkpoint' }, folder: string): boolean {
  return checkpointRecord(folder, record.key, record, record.checkpoint).fingerprint === record.fingerprint;
}

/** The record of a block. The fingerprint binds its bytes to the folder, the key and the record. */
export function blockRecord(folder: string, key: string, about: AboutKv, bytes: Uint8Array): KvRecord {
  const fingerprint = fingerprintOf(folder, key, about, bytes);
  return { kind: 'block', key, fingerprint, sizeBytes: bytes.length, ...aboutOf(about) };
}

/** The record of a checkpoint. The fingerprint binds it to the folder and the key; the engine verifies its bytes. */
export function checkpointRecord(folder: string, key: string, about: AboutKv, checkpoint: Checkpoint): KvRecord {
  const { id, tokens, bytes, sha256, stateIdentity } = checkpoint;
  const text = JSON.stringify([id, tokens, bytes, sha256, stateIdentity]);
  const fingerprint = fingerprintOf(folder, key, about, Buffer.from(text));
  return { kind: 'checkpoint', key, fingerprint, checkpoint, ...aboutOf(about) };
}

/** The entry that a record describes. */
export function entryOf(record: KvRecord): KvEntry {
  const { key, fingerprint } = record;
  const payload = record.kind === 'block' ? blockName(key, fingerprint) : markName(key, record.checkpoint.id);
  const sizeBytes = record.kind === 'block' ? record.sizeBytes : record.checkpoint.bytes;
  return { key, payload, sizeBytes, ...aboutOf(record) };
}

function aboutOf({ tokens, memoryIds }: AboutKv): AboutKv {
  return { tokens, memoryIds };
}

function fingerprintOf(folder: string, key: string, { tokens, memoryIds }: AboutKv, content: Uint8Array): string {
  const about = JSON.stringify([folder, key, tokens, memoryIds]);
  return createHash('sha256').update(`${about}\n`).update(content).digest('hex');
}
