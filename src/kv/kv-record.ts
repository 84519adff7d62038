import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Checkpoint, checkpointSchema } from '../engine/session-checkpoint.ts';
import { type TokenId } from '../engine/token-id.ts';
import { isBeingWritten, writerInFileName } from '../base/is-process-running.ts';

/** How many tokens KV took to compute, and which memories it contains. */
export interface AboutKv {
  readonly tokens: number;
  /** The memories in it; deleting any of them deletes the KV. */
  readonly memoryIds: readonly string[];
}

/** KV of one user under its content key. */
export interface OwnedKv extends AboutKv {
  readonly userId: string;
  readonly key: string;
}

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const common = {
  key: sha256,
  fingerprint: sha256,
  tokens: z.number().int().positive(),
  memoryIds: z.array(z.string()).readonly(),
};
const recordSchema = z.discriminatedUnion('kind', [
  z.object({ ...common, kind: z.literal('block'), sizeBytes: z.number().int().nonnegative() }),
  z.object({ ...common, kind: z.literal('checkpoint'), checkpoint: checkpointSchema }),
]);

/** The record of stored KV: a block, with its bytes in a file beside it, or a checkpoint, with its bytes in the engine. */
export type KvRecord = Readonly<z.output<typeof recordSchema>>;

/** An entry of a folder, without its bytes. */
export type KvEntry = ReturnType<typeof kvEntry>;

/** Parses the record of a key in a folder; undefined if it is damaged. */
export function readRecord(text: string, key: string, folder: string): KvRecord | undefined {
  try {
    const record = recordSchema.parse(JSON.parse(text));
    const isIntact =
      record.kind === 'block' ||
      checkpointRecord(folder, key, record, record.checkpoint).fingerprint === record.fingerprint;
    return isIntact && record.key === key ? record : undefined;
  } catch {
    return undefined;
  }
}

/** The record of a block. Its fingerprint covers bytes, folder, key and record. */
export function blockRecord(folder: string, key: string, about: AboutKv, bytes: Uint8Array): KvRecord {
  return { kind: 'block', sizeBytes: bytes.length, ...signed(folder, key, about, bytes) };
}

/** The record of a checkpoint. Its fingerprint covers folder, key and record; the engine verifies the bytes. */
export function checkpointRecord(folder: string, key: string, about: AboutKv, checkpoint: Checkpoint): KvRecord {
  const { id, tokens, bytes, sha256, stateIdentity } = checkpoint;
  const text = JSON.stringify([id, tokens, bytes, sha256, stateIdentity]);
  return { kind: 'checkpoint', checkpoint, ...signed(folder, key, about, Buffer.from(text)) };
}

export function kvEntry(record: KvRecord) {
  const { key, fingerprint, tokens, memoryIds } = record;
  // The file beside the record: the bytes of a block, or the empty mark of a checkpoint.
  const payload = record.kind === 'block' ? blockName(key, fingerprint) : markName(key, record.checkpoint.id);
  const sizeBytes = record.kind === 'block' ? record.sizeBytes : record.checkpoint.bytes;
  return { key, payload, sizeBytes, tokens, memoryIds };
}

function signed(folder: string, key: string, { tokens, memoryIds }: AboutKv, content: Uint8Array) {
  const about = JSON.stringify([folder, key, tokens, memoryIds]);
  const fingerprint = createHash('sha256').update(`${about}\n`).update(content).digest('hex');
  return { key, fingerprint, tokens, memoryIds };
}

/** Everything that the KV of a prefix depends on. */
export interface KvIdentity {
  /** `EngineInfo.stateIdentity`: model, build options, number types. */
  readonly stateIdentity: string;
  /** Template and labels. */
  readonly template: string;
  readonly tokenIds: readonly TokenId[];
}

/** The content key of KV: a SHA-256 in hex, so that no user text becomes a file name. */
export function kvKey({ stateIdentity, template, tokenIds }: KvIdentity): string {
  const shape = JSON.stringify([stateIdentity, template]);
  return createHash('sha256').update(shape).update(Int32Array.from(tokenIds)).digest('hex');
}

/**
 * File names in a folder of KV. Each begins with a key:
 *
 * - `<key>.json`: the record of an entry
 * - `<key>.<fingerprint>.block`, `<key>.<id>.checkpoint`: its payload, the bytes of a block or the mark of a checkpoint
 * - `<record or payload>.<id>.<host>-<process id>.new`: unfinished, written by that process
 */

const KEY = /^[0-9a-f]{64}$/;
const UNFINISHED = /\.([^.]+)\.([0-9A-Za-z]*-\d+)\.new$/;
const FINGERPRINT_DIGITS = 16;

export const isKey = (text: string): boolean => KEY.test(text);

/** The text before the first dot. */
export const keyInFileName = (file: string): string => file.slice(0, file.indexOf('.'));

export const recordName = (key: string): string => `${key}.json`;
export const isRecord = (file: string): boolean => file.endsWith('.json');

const blockName = (key: string, fingerprint: string): string =>
  `${key}.${fingerprint.slice(0, FINGERPRINT_DIGITS)}.block`;

/** An empty file which says that the engine has a checkpoint with this id. */
export const markName = (key: string, id: string): string => `${key}.${id}.checkpoint`;

/** The checkpoint id in the name of a mark; undefined for other names. */
export const markedId = (file: string): string | undefined =>
  /^[^.]+\.([0-9a-zA-Z-]{1,100})\.checkpoint$/.exec(file)?.[1];

export const isPayload = (file: string): boolean => !isRecord(file) && !isUnfinished(file);

/** The name of a file while this process writes it. */
export const unfinishedName = (file: string, id: string): string => `${file}.${id}.${writerInFileName}.new`;
export const isUnfinished = (file: string): boolean => UNFINISHED.test(file);

/** True for an unfinished file whose process is still running. */
export function isInWork(path: string): boolean {
  const writer = UNFINISHED.exec(path)?.[2];
  return writer !== undefined && isBeingWritten(path, writer);
}

/** True for the mark of a checkpoint that a running process is making. @param inWork the files {@link isInWork} */
export function isMarkInWork(mark: string, inWork: readonly string[]): boolean {
  const id = markedId(mark);
  return id !== undefined && inWork.some((file) => UNFINISHED.exec(file)?.[1] === id);
}
