import { type TokenId, type TokenIds, UNKNOWN_TOKEN } from './token-id.ts';

/**
 * Position and token of each cell of a session, in the order in which they were added. Needed because llama.cpp counts positions,
 * not cells: after an import with shared positions it reports free cells where there are none, and throws.
 */
export class SessionCells {
  #cells: { readonly position: number; readonly token: TokenId }[] = [];
  #next = 0;

  get count(): number {
    return this.#cells.length;
  }

  /** Position of the next token. */
  get nextPosition(): number {
    return this.#next;
  }

  get positions(): readonly number[] {
    return this.#cells.map(({ position }) => position);
  }

  get tokenIds(): TokenIds {
    return this.#cells.map(({ token }) => token);
  }

  /** Lowest position of a cell; `nextPosition` if there is no cell. */
  get firstPosition(): number {
    return this.#cells.reduce((lowest, { position }) => Math.min(lowest, position), this.#next);
  }

  /** One more than the highest position below a limit; 0 if there is none. */
  endBelow(limit: number): number {
    return this.#cells.reduce((end, { position }) => (position < limit ? Math.max(end, position + 1) : end), 0);
  }

  /** Replaces all cells. */
  load(positions: ArrayLike<number>, tokens: ArrayLike<TokenId>): void {
    this.#cells = Array.from(positions, (position, cell) => ({ position, token: tokens[cell]! }));
    this.#next = this.endBelow(Infinity);
  }

  /** Adds cells for the tokens after `nextPosition`. @param tokens the whole sequence, from position 0 */
  follow(tokens: TokenIds): void {
    for (; this.#next < tokens.length; this.#next++) {
      this.#cells.push({ position: this.#next, token: tokens[this.#next]! });
    }
  }

  /** Removes the cells in a range of positions; later cells move up by its length. */
  erase(start: number, end: number): void {
    this.#cells = this.#cells
      .filter(({ position }) => position < start || position >= end)
      .map((cell) => (cell.position < start ? cell : { ...cell, position: cell.position - (end - start) }));
    this.#next = this.endBelow(Infinity);
  }

  /** Token at each position; `UNKNOWN_TOKEN` if the position has no cell, or several. */
  tokensByPosition(): TokenId[] {
    const tokens = new Array<TokenId | undefined>(this.#next).fill(undefined);
    for (const { position, token } of this.#cells) {
      tokens[position] = tokens[position] === undefined ? token : UNKNOWN_TOKEN;
    }
    return tokens.map((token) => token ?? UNKNOWN_TOKEN);
  }
}
