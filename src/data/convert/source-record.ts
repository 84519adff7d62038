/** One memory of a foreign file; missing values are filled in when it is written. */
export interface SourceMemory {
  readonly kind: 'memory';
  /** `file:line`, for messages. */
  readonly place: string;
  readonly userId: string;
  readonly memoryId?: string | undefined;
  readonly content: string;
  /** ISO 8601. */
  readonly createdAt?: string | undefined;
  readonly value?: string | undefined;
  readonly relation?: string | undefined;
  readonly preference?: boolean | undefined;
  readonly supersedes?: string | undefined;
  /** ISO 8601. */
  readonly updatedAt?: string | undefined;
  readonly uri?: string | undefined;
  readonly scope?: string | undefined;
  /** Ids of memories. */
  readonly links?: readonly string[] | undefined;
  readonly confidence?: number | undefined;
}

/** One question of a foreign file. */
export interface SourceItem {
  readonly kind: 'item';
  readonly place: string;
  readonly userId: string;
  readonly itemId?: string | undefined;
  readonly query: string;
  /** Null if nothing answers it. */
  readonly answer: string | null;
  readonly acceptedAnswers?: readonly string[] | undefined;
  readonly answerPrefix?: string | undefined;
  readonly systemPrompt?: string | undefined;
  readonly relation?: string | undefined;
  readonly language?: string | undefined;
  /** Ids of memories, or their whole texts; `preceding` for the memory right before it. */
  readonly evidence: readonly string[] | 'preceding';
  readonly superseded?: readonly string[] | undefined;
  /** As evidence, from the best to the last. */
  readonly passages?: readonly string[] | undefined;
  readonly category?: string | undefined;
  readonly phrasing?: string | undefined;
  /** ISO 8601. */
  readonly askedAt?: string | undefined;
  readonly history?: unknown;
}

export type SourceRecord = SourceMemory | SourceItem;

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
