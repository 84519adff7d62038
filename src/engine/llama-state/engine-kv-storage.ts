import { join } from 'node:path';
import type { EngineRequest } from '../engine-adapter.ts';
import { CheckpointFolder, CheckpointMemory } from './checkpoint-storage.ts';
import { TemporaryFolder } from '../../base/temporary-folder.ts';
import { KvTransfer, type SessionKv } from './kv-transfer.ts';

/** KV that an engine stores outside its sessions: checkpoints, their copies in memory, temporary files. */
export class EngineKvStorage implements Disposable {
  /** Temporary folder of this process, deleted with the engine. */
  readonly folder: TemporaryFolder;
  readonly #checkpoints: CheckpointFolder;
  readonly #memory: CheckpointMemory | null;
  #opened = 0;

  /** @param verifiedBytes limit for copies in memory; null if another process reads the files @throws BenchError `disk` */
  constructor({ checkpointFolder }: Pick<EngineRequest, 'checkpointFolder'>, verifiedBytes: number | null) {
    const given = checkpointFolder === undefined ? undefined : new CheckpointFolder(checkpointFolder);
    this.folder = new TemporaryFolder();
    this.#checkpoints = given ?? new CheckpointFolder(join(this.folder.path, 'checkpoints'));
    this.#memory = verifiedBytes === null ? null : new CheckpointMemory(verifiedBytes);
  }

  exchange(session: SessionKv): KvTransfer {
    const scratchPath = join(this.folder.path, `session-${this.#opened++}.state`);
    return new KvTransfer({ ...session, checkpoints: this.#checkpoints, memory: this.#memory, scratchPath });
  }

  remove(id: string): void {
    this.#memory?.delete(id);
    this.#checkpoints.remove(id);
  }

  [Symbol.dispose](): void {
    this.#memory?.[Symbol.dispose]();
    this.folder[Symbol.dispose]();
  }
}
