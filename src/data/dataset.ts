import { grammars } from '../base/english-and-chinese-wordings.ts';
import { knownLanguage, type Language } from '../base/language.ts';
import type { DatasetDeclaration, DatasetRecord, ItemRecord, MemoryRecord } from './record-schemas.ts';

/** A statement of a user that a memory system stores; `createdAt` is ISO 8601. */
export type DatasetMemory = Readonly<Omit<MemoryRecord, 'type'>>;

type Frozen<Fields> = { readonly [Name in keyof Fields]: Readonly<Fields[Name]> };

/** A question with its gold answer; `answer` null means that abstaining is the only right answer. */
export type DatasetItem = Frozen<Omit<ItemRecord, 'type'>>;

/** A user's language by the data set. Answers are scored in it, also if a run prompts in another language. */
export interface UserLanguage {
  readonly language: Language;
  readonly unknownAnswer: string;
}

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

/** True if the data say what answers an item: memories, its conversation, or nothing. */
export function evidenceIsKnown(
  item: Pick<DatasetItem, 'answer' | 'evidence' | 'conversation'> & { readonly history: readonly unknown[] },
): boolean {
  const { answer, evidence, history, conversation } = item;
  return answer === null || evidence.length > 0 || history.length > 0 || conversation !== undefined;
}

/** Profile of `language`, default `whole`. A language without phrasings keeps the unknown answer of `whole`. */
export function resolveUserLanguage(language: Language | undefined, whole: UserLanguage): UserLanguage {
  if (language === undefined || language === whole.language) return whole;
  const known = knownLanguage(language);
  return { language, unknownAnswer: known === undefined ? whole.unknownAnswer : grammars[known].unknownAnswer };
}
