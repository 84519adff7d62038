import type { UserSpeech } from '../metrics/user-speech.ts';
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
  readonly speech: UserSpeech;
  /** In the order of creation, then of ids. */
  readonly memories: readonly DatasetMemory[];
  /** In the order of the file. */
  readonly items: readonly DatasetItem[];
}

/** What is asked, of whom, and what they said before; its speech is that of all its users. */
export interface Dataset extends UserSpeech {
  readonly name: string;
  /** Of the file's bytes. */
  readonly sha256: string;
  readonly users: readonly DatasetUser[];
}
