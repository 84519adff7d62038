/** Neighbouring bytes of an address space. */
export interface Range {
  readonly address: number;
  readonly sizeBytes: number;
}

/** The free ranges of an address space. The first that is large enough is taken; neighbours that are free are one. */
export class FreeRanges {
  /** By address; none touches the next. */
  readonly #ranges: Range[] = [];

  /** The address of a range of that size, which is free no longer; undefined where none is large enough. */
  take(sizeBytes: number): number | undefined {
    const index = this.#ranges.findIndex((range) => range.sizeBytes >= sizeBytes);
    const found = this.#ranges[index];
    if (found === undefined) return undefined;
    const rest = { address: found.address + sizeBytes, sizeBytes: found.sizeBytes - sizeBytes };
    this.#ranges.splice(index, 1, ...(rest.sizeBytes === 0 ? [] : [rest]));
    return found.address;
  }

  /** Makes a range free that is not. */
  give(address: number, sizeBytes: number): void {
    const next = this.#ranges.findIndex((range) => range.address > address);
    const index = next === -1 ? this.#ranges.length : next;
    const [before, after] = [this.#ranges[index - 1], this.#ranges[index]];
    const joinsBefore = before !== undefined && before.address + before.sizeBytes === address;
    const joinsAfter = after?.address === address + sizeBytes;
    const start = joinsBefore ? before.address : address;
    const end = joinsAfter ? after.address + after.sizeBytes : address + sizeBytes;
    const joined = Number(joinsBefore) + Number(joinsAfter);
    this.#ranges.splice(joinsBefore ? index - 1 : index, joined, { address: start, sizeBytes: end - start });
  }
}
