import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchConfig } from '../../config/bench-config.ts';
import { BenchError } from '../../base/bench-error.ts';
import { type CheckpointKeeper, KvStore } from '../../kv/kv-store.ts';
import type { OpenStore } from '../../systems/prefill/prefill-strategy.ts';

const CHECKPOINTS = 'checkpoints';

/** The folder of a run's KV: one that was named, shared on purpose, or one of the run's own that is deleted with it. */
export class KvFolder implements Disposable {
  readonly shared: boolean;
  readonly #path: string;
  readonly #maxBytes: number;

  /** @param runFolder of the report; KV that a killed process left there is deleted @throws BenchError `disk` */
  constructor({ kvStore, kvBytes }: Pick<BenchConfig, 'kvStore' | 'kvBytes'>, runFolder: string) {
    this.shared = kvStore !== undefined;
    this.#path = kvStore ?? join(runFolder, 'kv');
    this.#maxBytes = kvBytes;
    try {
      this[Symbol.dispose]();
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      const message = `${this.#path}: KV of an earlier run cannot be deleted: ${code}`;
      throw new BenchError('disk', message, 'delete it, or name another folder: --out DIR', cause);
    }
  }

  get checkpointFolder(): string {
    return join(this.#path, CHECKPOINTS);
  }

  /** A store of one arm: arms never find each other's KV. */
  opener(arm: string): OpenStore {
    return async (engine) => ({
      store: await KvStore.open(join(this.#path, folderName(arm)), this.#maxBytes, engine),
      diskTiming: this.shared ? 'at-once' : 'when-evicted',
    });
  }

  /** Deletes the KV that any arm keeps of a memory of the user, before it returns; gives the number of entries. */
  forgetMemory(userId: string, memoryId: string, keeper: CheckpointKeeper): Promise<number> {
    return this.#inEachStore(keeper, (store) => store.forgetMemory(userId, memoryId));
  }

  /** Deletes the KV of a user that any arm has written since a time, in ms since 1970; gives the number of entries. */
  forgetSince(userId: string, sinceMs: number, keeper: CheckpointKeeper): Promise<number> {
    return this.#inEachStore(keeper, (store) => store.forgetSince(userId, sinceMs));
  }

  async #inEachStore(keeper: CheckpointKeeper, forget: (store: KvStore) => Promise<number>): Promise<number> {
    if (!existsSync(this.#path)) return 0;
    let entries = 0;
    for (const folder of readdirSync(this.#path, { withFileTypes: true })) {
      if (!folder.isDirectory() || folder.name === CHECKPOINTS) continue;
      const store = await KvStore.open(join(this.#path, folder.name), this.#maxBytes, keeper);
      entries += await forget(store);
    }
    return entries;
  }

  [Symbol.dispose](): void {
    if (!this.shared && existsSync(this.#path)) rmSync(this.#path, { recursive: true, force: true });
  }
}

const PLAIN_NAME = /^[a-z0-9][a-z0-9+.:@=-]*$/;

/** The arm's own name if it is plain, else its hash: a caller's arm may have any name. */
function folderName(arm: string): string {
  if (PLAIN_NAME.test(arm) && arm !== CHECKPOINTS) return arm;
  return createHash('sha256').update(arm).digest('hex').slice(0, 32);
}
