import { type TokenId, type TokenIds, UNKNOWN_TOKEN } from './token-id.ts';

/**
 * The cells of a session in the order in which they came. llama.cpp counts positions, and imported cells may share
 * positions or leave some out: it then says that cells are free, and throws where there is none.
 */
export class SessionCells {
  #positions: number[] = [];
  #tokens: TokenId[] = [];
  #next = 0;

  get count(): number {
    return this.#positions.length;
  }

  /** The position that the next token takes. */
  get nextPosition(): number {
    return this.#next;
  }

  /** The position of each cell. */
  get positions(): readonly number[] {
    return this.#positions;
  }

  /** The token of each cell. */
  get tokenIds(): TokenIds {
    return this.#tokens;
  }

  /** The lowest position that a cell has; that of the next token where there is no cell. */
  get firstPosition(): number {
    return this.#positions.reduce((lowest, position) => Math.min(lowest, position), this.#next);
  }

  /** The position behind the last cell below a limit; 0 where there is none. */
  endBelow(limit: number): number {
    if (limit >= this.#next) return this.#next;
    return this.#positions.reduce((end, position) => (position < limit ? Math.max(end, position + 1) : end), 0);
  }

  /** Replaces all cells. */
  load(positions: Iterable<number>, tokens: Iterable<TokenId>): void {
    this.#positions = [...positions];
    this.#tokens = [...tokens];
    this.#next = this.#positions.reduce((end, position) => Math.max(end, position + 1), 0);
  }

  /** Adds a cell for each token that llama.cpp has behind those that are known. */
  follow(tokens: TokenIds): void {
    for (; this.#next < tokens.length; this.#next++) {
      this.#positions.push(this.#next);
      this.#tokens.push(tokens[this.#next]!);
    }
  }

  /** Removes the cells of a range of positions; those behind it move up by its length. */
  erase(start: number, end: number): void {
    const kept = [...this.#positions.keys()].filter(
      (cell) => this.#positions[cell]! < start || this.#positions[cell]! >= end,
    );
    this.load(
      kept
        .map((cell) => this.#positions[cell]!)
        .map((position) => (position < start ? position : position - (end - start))),
      kept.map((cell) => this.#tokens[cell]!),
    );
  }

  /** The token at each position, `UNKNOWN_TOKEN` where no cell has it, or several have. */
  tokensByPosition(): TokenId[] {
    const tokens = new Array<TokenId>(this.#next).fill(UNKNOWN_TOKEN);
    const taken = new Uint8Array(this.#next);
    this.#positions.forEach((position, cell) => {
      tokens[position] = taken[position] === 0 ? this.#tokens[cell]! : UNKNOWN_TOKEN;
      taken[position] = 1;
    });
    return tokens;
  }
}
