import type { DatasetDeclaration, DatasetRecord, ItemRecord, MemoryRecord } from './record-schemas.ts';
import type { UserLanguage } from './user-language.ts';

/** A statement of a user that a memory system stores; `createdAt` is ISO 8601. */
export type DatasetMemory = Readonly<Omit<MemoryRecord, 'type'>>;

/** A question with its gold answer; `answer` null means that abstaining is the only right answer. */
export type DatasetItem = Readonly<Omit<ItemRecord, 'type'>>;

/** A user of a data set: memories, and questions about them. */
export interface DatasetUser {
  readonly userId: string;
  /** `recurring`: few memories, so that retrieved sets repeat; `large`: more memories than a retrieval returns. */
  readonly kind?: NonNullable<DatasetRecord['userKinds']>[string] | undefined;
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

/** What the data say about the answer of an item. */
interface AnswerSources {
  readonly answer: string | null;
  readonly evidence: readonly unknown[];
  readonly history: readonly unknown[];
  readonly conversation?: string | undefined;
}

/** True if the data say what answers an item: memories, its conversation, or nothing. */
export function evidenceIsKnown({ answer, evidence, history, conversation }: AnswerSources): boolean {
  return answer === null || evidence.length > 0 || history.length > 0 || conversation !== undefined;
}
