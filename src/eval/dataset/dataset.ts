import type { Language } from '../metrics/normalise.ts';
import type { DatasetRecord, ItemRecord, MemoryRecord } from './schema.ts';

/** Something that a user once said; `createdAt` is ISO 8601. */
export type DatasetMemory = Readonly<Omit<MemoryRecord, 'type'>>;

/** One question and what would be right: `answer` null means that only abstaining is. */
export type DatasetItem = Readonly<Omit<ItemRecord, 'type'>>;

/** `recurring`: few memories, so that recalled sets come again; `large`: more than recall returns. */
export type UserKind = NonNullable<DatasetRecord['userKinds']>[string];

export interface DatasetUser {
  readonly userId: string;
  readonly kind?: UserKind | undefined;
  /** In the order of creation, then of ids. */
  readonly memories: readonly DatasetMemory[];
  /** In the order of the file. */
  readonly items: readonly DatasetItem[];
}

/** What a run asks, of whom, and what they said before. */
export interface Dataset {
  readonly name: string;
  /** Of the file's bytes. */
  readonly sha256: string;
  readonly language: Language;
  /** The right answer to an absent item. */
  readonly unknownAnswer: string;
  readonly users: readonly DatasetUser[];
}
