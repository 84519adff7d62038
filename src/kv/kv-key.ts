import { createHash } from 'node:crypto';
import type { TokenId } from '../engine/token-id.ts';

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
