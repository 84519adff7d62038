import { createHash } from 'node:crypto';

/** All that the K/V of a prefix depends on. */
export interface StateIdentity {
  readonly modelSha256: string;
  /** Context options that shape K/V: flash attention, K/V type, batch size, sequences. */
  readonly contextOptions: Readonly<Record<string, unknown>>;
  /** Template and labels. */
  readonly template: string;
  readonly tokenIds: readonly number[];
}

/** The content key of a state: sha-256 in hex, so that no text of a user ever names a file. */
export function stateKey(identity: StateIdentity): string {
  const shape = JSON.stringify([identity.modelSha256, identity.contextOptions, identity.template]);
  return createHash('sha256').update(shape).update(Int32Array.from(identity.tokenIds)).digest('hex');
}
