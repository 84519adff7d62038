import { type TokenId, type TokenIds, UNKNOWN_TOKEN } from './token-id.ts';

/**
 * The cells of a session in the order in which they came. llama.cpp counts positions, and imported cells may share
 * positions or leave some out: it then says that cells are free, and throws where there is none.
 */
export class SessionCells {
  #cells: { readonly position: number; readonly token: TokenId }[] = [];
  #next = 0;

  get count(): number {
    return this.#cells.length;
  }

  /** The position that the next token takes. */
  get nextPosition(): number {
    return this.#next;
  }

  get positions(): readonly number[] {
    return this.#cells.map(({ position }) => position);
  }

  get tokenIds(): TokenIds {
    return this.#cells.map(({ token }) => token);
  }

  /** The lowest position that a cell has; that of the next token where there is no cell. */
  get firstPosition(): number {
    return this.#cells.reduce((lowest, { position }) => Math.min(lowest, position), this.#next);
  }

  /** The position behind the last cell below a limit; 0 where there is none. */
  endBelow(limit: number): number {
    return this.#cells.reduce((end, { position }) => (position < limit ? Math.max(end, position + 1) : end), 0);
  }

  /** Replaces all cells. */
  load(positions: ArrayLike<number>, tokens: ArrayLike<TokenId>): void {
    this.#cells = Array.from(positions, (position, cell) => ({ position, token: tokens[cell]! }));
    this.#next = this.endBelow(Infinity);
  }

  /** Adds a cell for each token that llama.cpp has behind those that are known. */
  follow(tokens: TokenIds): void {
    for (; this.#next < tokens.length; this.#next++) {
      this.#cells.push({ position: this.#next, token: tokens[this.#next]! });
    }
  }

  /** Removes the cells of a range of positions; those behind it move up by its length. */
  erase(start: number, end: number): void {
    this.#cells = this.#cells
      .filter(({ position }) => position < start || position >= end)
      .map((cell) => (cell.position < start ? cell : { ...cell, position: cell.position - (end - start) }));
    this.#next = this.endBelow(Infinity);
  }

  /** The token at each position, `UNKNOWN_TOKEN` where no cell has it, or several have. */
  tokensByPosition(): TokenId[] {
    const tokens = new Array<TokenId | undefined>(this.#next).fill(undefined);
    for (const { position, token } of this.#cells) {
      tokens[position] = tokens[position] === undefined ? token : UNKNOWN_TOKEN;
    }
    return tokens.map((token) => token ?? UNKNOWN_TOKEN);
  }
}
