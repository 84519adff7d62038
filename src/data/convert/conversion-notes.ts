/** Assumptions that a conversion made, each listed once with its count. */
export class ConversionNotes {
  readonly #counts = new Map<string, { count: number; first: string }>();

  /** Notes an assumption. @param what a sentence that does not depend on the place */
  add(what: string, place: string): void {
    const known = this.#counts.get(what);
    if (known === undefined) this.#counts.set(what, { count: 1, first: place });
    else known.count++;
  }

  /** Formats the notes as `what (3 times, first at file:7)`. */
  list(): string[] {
    return [...this.#counts].map(([what, { count, first }]) =>
      count === 1 ? `${what} (at ${first})` : `${what} (${count} times, first at ${first})`,
    );
  }
}
