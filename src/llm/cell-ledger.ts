/**
 * Counts the cells that a sequence fills. llama.cpp counts positions, and joined blocks may share positions or
 * leave some out: it then says that there is room, and throws where there is none.
 */
export class CellLedger {
  /** Positions of the cells that were loaded, where they are not 0, 1, 2, …: there, cells are not positions. */
  #loaded: Int32Array | undefined;
  #loadedTokens = 0;

  /** Takes over a state that was loaded into the empty sequence. */
  load(positions: Int32Array): void {
    const plain = positions.every((position, cell) => position === cell);
    this.#loaded = plain ? undefined : positions;
    this.#loadedTokens = positions.reduce((largest, position) => Math.max(largest, position + 1), 0);
  }

  /** Gives up the cells from a position on. */
  truncate(position: number): void {
    if (this.#loaded === undefined || position >= this.#loadedTokens) return;
    this.#loaded = this.#loaded.filter((loaded) => loaded < position);
    this.#loadedTokens = position;
  }

  /** Cells in use where the next token would take this position. */
  count(nextPosition: number): number {
    return this.#loaded === undefined ? nextPosition : this.#loaded.length + nextPosition - this.#loadedTokens;
  }
}
