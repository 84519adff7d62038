import { join } from 'node:path';
import type { EngineRequest } from '../engine-adapter.ts';
import type { SessionCells } from '../sequence-state.ts';
import { CheckpointFolder, VerifiedStates } from './checkpoint-folder.ts';
import { PrivateFolder } from '../../base/private-folder.ts';
import { type StateCarrier, StateExchange, type StateFacts } from './kv-import-export.ts';

/** Where an engine keeps KV outside of its sessions: checkpoints, copies of them in memory, and files on their way. */
export class EngineStates implements Disposable {
  /** Of this process alone, deleted with the engine. */
  readonly folder: PrivateFolder;
  readonly #checkpoints: CheckpointFolder;
  readonly #verified: VerifiedStates | null;
  #opened = 0;

  /** @param verifiedBytes most bytes of copies in memory; null where another process reads the files @throws BenchError `disk` */
  constructor({ checkpointFolder }: Pick<EngineRequest, 'checkpointFolder'>, verifiedBytes: number | null) {
    const given = checkpointFolder === undefined ? undefined : new CheckpointFolder(checkpointFolder);
    this.folder = new PrivateFolder();
    this.#checkpoints = given ?? new CheckpointFolder(join(this.folder.path, 'checkpoints'));
    this.#verified = verifiedBytes === null ? null : new VerifiedStates(verifiedBytes);
  }

  exchange(sequence: StateCarrier, cells: SessionCells, facts: StateFacts): StateExchange {
    const scratchPath = join(this.folder.path, `session-${this.#opened++}.state`);
    return new StateExchange(sequence, cells, facts, {
      checkpoints: this.#checkpoints,
      verified: this.#verified,
      scratchPath,
    });
  }

  remove(id: string): void {
    this.#verified?.forget(id);
    this.#checkpoints.remove(id);
  }

  [Symbol.dispose](): void {
    this.#verified?.[Symbol.dispose]();
    this.folder[Symbol.dispose]();
  }
}
