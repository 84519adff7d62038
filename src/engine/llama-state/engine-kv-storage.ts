import { join } from 'node:path';
import type { EngineRequest } from '../engine-adapter.ts';
import { CheckpointFolder, CheckpointMemory } from './checkpoint-storage.ts';
import { TemporaryFolder } from '../../base/temporary-folder.ts';
import { KvTransfer, type SessionKv } from './kv-transfer.ts';

export type EngineKvStorage = ReturnType<typeof engineKvStorage>;

/**
 * KV that an engine stores outside its sessions: checkpoints, their copies in memory, temporary files.
 * @param verifiedBytes limit for copies in memory; null if another process reads the files
 * @throws BenchError `disk`
 */
export function engineKvStorage(
  { checkpointFolder }: Pick<EngineRequest, 'checkpointFolder'>,
  verifiedBytes: number | null,
) {
  const given = checkpointFolder === undefined ? undefined : new CheckpointFolder(checkpointFolder);
  // Of this process, deleted with the engine.
  const folder = new TemporaryFolder();
  const checkpoints = given ?? new CheckpointFolder(join(folder.path, 'checkpoints'));
  const memory = verifiedBytes === null ? null : new CheckpointMemory(verifiedBytes);
  let opened = 0;
  return {
    folder,
    exchange(session: SessionKv): KvTransfer {
      const scratchPath = join(folder.path, `session-${opened++}.state`);
      return new KvTransfer({ ...session, checkpoints, memory, scratchPath });
    },
    remove(id: string): void {
      memory?.delete(id);
      checkpoints.remove(id);
    },
    [Symbol.dispose](): void {
      memory?.[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}
