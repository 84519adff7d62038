import { watched } from '../../record/watched.ts';
import type { EngineSession } from '../../../../engine/engine-session.ts';
import { kvBytes } from '../../../../kv/owned-state.ts';

/** Counts the bytes of K/V that calls of sessions move into them and out of them. */
export class MovedBytes {
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** The session as its system sees it. */
  counted(session: EngineSession): EngineSession {
    const count = (bytes: number): void => {
      this.#bytes += bytes;
    };
    return watched(session, [], (call) => call(), {
      checkpoint: async (...asked) => {
        const checkpoint = await session.checkpoint(...asked);
        count(checkpoint.bytes);
        return checkpoint;
      },
      restore: async (checkpoint, ...asked) => {
        await session.restore(checkpoint, ...asked);
        count(checkpoint.bytes);
      },
      exportCells: async (...asked) => {
        const state = await session.exportCells(...asked);
        count(kvBytes(state));
        return state;
      },
      importCells: async (state, ...asked) => {
        const bytes = kvBytes(state);
        await session.importCells(state, ...asked);
        count(bytes);
      },
    });
  }
}
