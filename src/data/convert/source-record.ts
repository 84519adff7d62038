import type { WrittenRecord } from '../record-schemas.ts';

type Fields<Type extends WrittenRecord['type']> = Omit<Extract<WrittenRecord, { type: Type }>, 'type'>;
/** Fields of a record, all optional, since a foreign file may lack any. */
type Written<Type extends WrittenRecord['type']> = {
  readonly [Name in keyof Fields<Type>]?: Readonly<Fields<Type>[Name]> | undefined;
};

/** One memory of a foreign file. `RecordCompleter` fills in missing values and checks all. */
export interface SourceMemory extends Omit<Written<'memory'>, 'scope'> {
  readonly kind: 'memory';
  /** `file:line`, for messages. */
  readonly place: string;
  readonly userId: string;
  readonly content: string;
  readonly scope?: string | undefined;
}

export interface SourceItem extends Omit<Written<'item'>, 'evidence' | 'language' | 'phrasing' | 'history'> {
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
