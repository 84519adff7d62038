import type { WrittenItem, WrittenMemory } from '../record-schemas.ts';

/** Fields of a record, all optional, since a foreign file may lack any. */
type Fields<Written, Other extends keyof Written> = {
  readonly [Name in Exclude<keyof Written, 'type' | Other>]?: Readonly<Written[Name]> | undefined;
};

/** One memory of a foreign file. `RecordCompleter` fills in missing values and checks all. */
export interface SourceMemory extends Fields<WrittenMemory, 'scope'> {
  readonly kind: 'memory';
  /** `file:line`, for messages. */
  readonly place: string;
  readonly userId: string;
  readonly content: string;
  readonly scope?: string | undefined;
}

export interface SourceItem extends Fields<WrittenItem, 'evidence' | 'language' | 'phrasing' | 'history'> {
  readonly kind: 'item';
  readonly place: string;
  readonly userId: string;
  readonly query: string;
  readonly answer: string | null;
  /** Ids of memories, or their whole texts; `preceding` for the memory right before the item. */
  readonly evidence: readonly string[] | 'preceding';
  readonly language?: string | undefined;
  readonly phrasing?: string | undefined;
  readonly history?: unknown;
}

export type SourceRecord = SourceMemory | SourceItem;

/** Assumptions that a conversion made, each listed once with its count. */
export class ConversionNotes {
  readonly #counts = new Map<string, { count: number; first: string }>();

  /** Notes an assumption. @param what a sentence that does not depend on the place */
  add(what: string, place: string): void {
    const note = this.#counts.get(what) ?? { count: 0, first: place };
    this.#counts.set(what, { ...note, count: note.count + 1 });
  }

  /** Formats the notes as `what (3 times, first at file:7)`. */
  list(): string[] {
    return [...this.#counts].map(([what, { count, first }]) =>
      count === 1 ? `${what} (at ${first})` : `${what} (${count} times, first at ${first})`,
    );
  }
}
