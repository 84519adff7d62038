import type { DatasetRecord, ItemRecord, MemoryRecord } from './record-schemas.ts';
import type { UserLanguage } from './user-language.ts';

/** A statement of a user that a memory system stores; `createdAt` is ISO 8601. */
export type DatasetMemory = Readonly<Omit<MemoryRecord, 'type'>>;

/** A question with its gold answer; `answer` null means that abstaining is the only right answer. */
export type DatasetItem = Readonly<Omit<ItemRecord, 'type'>>;

/** A file's own statements, for the description of every run that asks it. */
export type DatasetDeclaration = Readonly<
  Pick<DatasetRecord, 'primaryMetric' | 'split' | 'licence' | 'texts' | 'note'>
>;

/** `recurring`: few memories, so that retrieved sets repeat; `large`: more memories than a retrieval returns. */
export type UserKind = NonNullable<DatasetRecord['userKinds']>[string];

/** One user: memories, questions, and the language in which answers are scored. */
export interface DatasetUser {
  readonly userId: string;
  readonly kind?: UserKind | undefined;
  readonly languageProfile: UserLanguage;
  /** Sorted by creation, then by id. */
  readonly memories: readonly DatasetMemory[];
  /** In the order of the file. */
  readonly items: readonly DatasetItem[];
}

/** The origin of a public data set: a file of others that a user brought. */
export interface PublicDataOrigin {
  /** Of the file's bytes. */
  readonly sha256: string;
  /** Of those of published errata, where they were applied. */
  readonly errataSha256?: string;
  readonly notes: readonly string[];
}

/** A data set: users with their memories and questions. Its own language profile is that of all its users. */
export interface Dataset extends UserLanguage {
  readonly name: string;
  /** Of the file's bytes; of a public data set, of those that it was converted to. */
  readonly sha256: string;
  readonly declared: DatasetDeclaration;
  /** Missing where the data are the project's or the user's own. */
  readonly brought?: PublicDataOrigin;
  readonly users: readonly DatasetUser[];
  /** The place of each item, `file:line`, by its id; missing for data that were not read from a file. */
  readonly places?: ReadonlyMap<string, string>;
}

/** True where the data say what answers an item: memories, its conversation, or nothing at all. */
export function evidenceIsKnown({
  answer,
  evidence,
  history,
  conversation,
}: Pick<DatasetItem, 'answer' | 'conversation'> & {
  readonly evidence: readonly string[];
  readonly history: readonly unknown[];
}): boolean {
  return answer === null || evidence.length > 0 || history.length > 0 || conversation !== undefined;
}
