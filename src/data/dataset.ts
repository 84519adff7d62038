import type { DatasetRecord, ItemRecord, MemoryRecord } from './record-schemas.ts';
import type { UserLanguage } from './user-language.ts';

/** A statement of a user that a memory system stores; `createdAt` is ISO 8601. */
export type DatasetMemory = Readonly<Omit<MemoryRecord, 'type'>>;

/** A question with its gold answer; `answer` null means that abstaining is the only right answer. */
export type DatasetItem = Readonly<Omit<ItemRecord, 'type'>>;

/** What a file declares about itself; every run on the file records it. */
export type DatasetDeclaration = Readonly<
  Pick<DatasetRecord, 'primaryMetric' | 'plannedContrast' | 'split' | 'licence' | 'texts' | 'note'>
>;

/** `recurring`: few memories, so that retrieved sets repeat; `large`: more memories than a retrieval returns. */
export type UserKind = NonNullable<DatasetRecord['userKinds']>[string];

/** A user of a data set: memories, and questions about them. */
export interface DatasetUser {
  readonly userId: string;
  readonly kind?: UserKind | undefined;
  readonly languageProfile: UserLanguage;
  /** Sorted by creation, then by id. */
  readonly memories: readonly DatasetMemory[];
  readonly items: readonly DatasetItem[];
}

/** Origin of a public data set, whose file users download themselves. */
export interface PublicDataOrigin {
  /** Hash of the downloaded file. */
  readonly sha256: string;
  /** Hash of the errata file, if one was applied. */
  readonly errataSha256?: string;
  readonly notes: readonly string[];
}

/** A data set: users with their memories and questions. Its language profile is the default for users. */
export interface Dataset extends UserLanguage {
  readonly name: string;
  /** Hash of the file; for a public data set, of the converted lines. */
  readonly sha256: string;
  readonly declared: DatasetDeclaration;
  /** Only for public data sets. */
  readonly brought?: PublicDataOrigin;
  readonly users: readonly DatasetUser[];
  /** `file:line` of each item, by item id. Missing if the data were not read from a file. */
  readonly places?: ReadonlyMap<string, string>;
}

/** True if the data say what answers an item: memories, its conversation, or nothing. */
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
