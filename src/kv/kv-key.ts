import { createHash } from 'node:crypto';
import type { TokenId } from '../engine/token-id.ts';

/** All that the KV of a prefix depends on. */
export interface KvIdentity {
  /** `EngineInfo.stateIdentity`: model, build options, number types. */
  readonly stateIdentity: string;
  /** Template and labels. */
  readonly template: string;
  readonly tokenIds: readonly TokenId[];
}

/** The content key of KV: sha-256 in hex, so that no text of a user ever names a file. */
export function kvKey({ stateIdentity, template, tokenIds }: KvIdentity): string {
  const shape = JSON.stringify([stateIdentity, template]);
  return createHash('sha256').update(shape).update(Int32Array.from(tokenIds)).digest('hex');
}
