import type { CallOptions } from '../../../engine/call-options.ts';
import type { EngineSession } from '../../../engine/engine-session.ts';
import type { SequenceState } from '../../../engine/sequence-state.ts';
import type { TokenId } from '../../../engine/token-id.ts';

/**
 * Cells that are evaluated anew in a session that no arm uses. What the arms of one question share, its header and its
 * memories, is evaluated once: the cells are kept until `forget`.
 */
export class FreshCells {
  readonly #session: EngineSession;
  readonly #made = new Map<string, SequenceState>();
  /** The tokens that stand at the session's begin and were evaluated together; null where nobody knows. */
  #front: readonly TokenId[] | null = null;

  constructor(session: EngineSession) {
    this.#session = session;
  }

  /**
   * The cells of tokens that are evaluated together, behind others that were.
   * @param front tokens at the positions from 0 on; none where the tokens stand there themselves
   * @returns cells that live until `forget`; not to be disposed of
   */
  async behind(
    front: readonly TokenId[],
    tokens: readonly TokenId[],
    options: CallOptions = {},
  ): Promise<SequenceState> {
    const key = JSON.stringify([front, tokens]);
    const made = this.#made.get(key);
    if (made !== undefined) return made;
    await this.#putInFront(front, options);
    await this.#session.evaluate(tokens, options);
    if (front.length === 0) this.#front = tokens;
    const range = { start: front.length, end: front.length + tokens.length };
    const state = await this.#session.exportCells(range, options);
    this.#made.set(key, state);
    return state;
  }

  /** The session, for what this class does not do; it may be left in any state. */
  use(): EngineSession {
    this.#front = null;
    return this.#session;
  }

  /** Lets go of all cells: another question has others. */
  forget(): void {
    for (const state of this.#made.values()) state[Symbol.dispose]();
    this.#made.clear();
  }

  async #putInFront(front: readonly TokenId[], options: CallOptions): Promise<void> {
    const isThere = front.length > 0 && this.#front?.join() === front.join();
    if (isThere) {
      await this.#session.truncate(front.length, options);
      return;
    }
    this.#front = null;
    await this.#session.clear(options);
    if (front.length > 0) await this.#session.evaluate(front, options);
    this.#front = front;
  }
}
