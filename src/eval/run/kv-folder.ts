import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchConfig } from '../../config/bench-config.ts';
import { BenchError } from '../../base/bench-error.ts';
import { type CheckpointKeeper, KvStore } from '../../kv/kv-disk-store.ts';
import type { OpenStore } from '../../systems/prefill/prefill-strategy.ts';

const CHECKPOINTS = 'checkpoints';

/** Folder of a run's KV: the shared one of `--kv-store`, or a private one that is deleted on disposal, with the run's folder if nothing else is in it. */
export class KvFolder implements Disposable {
  readonly shared: boolean;
  readonly #path: string;
  readonly #runFolder: string;
  readonly #maxBytes: number;

  /** Deletes KV that a killed process left. @param runFolder folder of the run's report @throws BenchError `disk` */
  constructor({ kvStore, kvBytes }: Pick<BenchConfig, 'kvStore' | 'kvBytes'>, runFolder: string) {
    this.shared = kvStore !== undefined;
    this.#runFolder = runFolder;
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

  /** Opens the store of one arm. Arms never see each other's KV. */
  opener(arm: string): OpenStore {
    return async (engine) => ({
      store: await KvStore.open(join(this.#path, folderName(arm)), this.#maxBytes, engine),
      diskTiming: this.shared ? 'at-once' : 'when-evicted',
    });
  }

  /** Deletes the KV of one memory in the stores of all arms. @returns the number of entries deleted */
  forgetMemory(userId: string, memoryId: string, keeper: CheckpointKeeper): Promise<number> {
    return this.#inEachStore(keeper, (store) => store.forgetMemory(userId, memoryId));
  }

  /** Deletes a user's KV written since a time, in ms since 1970. @returns the number of entries deleted */
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
    if (existsSync(this.#runFolder) && readdirSync(this.#runFolder).length === 0) rmdirSync(this.#runFolder);
  }
}

const PLAIN_NAME = /^[a-z0-9][a-z0-9+.:@=-]*$/;

/** The arm's name if it is safe as a folder name, else its hash: arms of the calling program may have any name. */
function folderName(arm: string): string {
  if (PLAIN_NAME.test(arm) && arm !== CHECKPOINTS) return arm;
  return createHash('sha256').update(arm).digest('hex').slice(0, 32);
}
