import { BenchError } from '../../base/bench-error.ts';

/** A record of the three-layer memory protocol. */
export interface MemoryRecord {
  readonly memoryId: string;
  readonly content: string;
  /** JSON; the ingress filter reads `confidence`, 0 to 1. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970. */
  readonly createdAtMs: number;
}

/**
 * Checks that every store can hold a record and return it unchanged: metadata in JSON, texts in Unicode.
 * @throws BenchError `bad-data` for a text that a database would refuse or change, or an invalid time
 */
export function checkRecord(record: MemoryRecord): MemoryRecord {
  const refuse = (what: string): never => {
    const name = JSON.stringify(record.memoryId);
    throw new BenchError('bad-data', `memory ${name} ${what}`, 'correct it, or use --retriever router');
  };
  const check = (text: string): void => {
    if (text.includes('\0')) refuse('holds a NUL character, which databases do not store');
    if (!text.isWellFormed()) refuse('holds half of a surrogate pair, which databases do not store');
  };
  check(record.memoryId);
  check(record.content);
  if (!Number.isFinite(record.createdAtMs)) refuse('has an invalid creation time');
  const json = JSON.stringify(record.metadata, (key, value: unknown) => {
    check(key);
    if (typeof value === 'string') check(value);
    return value;
  });
  return { ...record, metadata: JSON.parse(json) as MemoryRecord['metadata'] };
}

/** Minimum confidence of a trusted record. */
const MIN_CONFIDENCE = 0.8;
/** Minimum length in code points: a Chinese character is one. */
const MIN_CHARACTERS = 50;

/** Verdicts of the ingress filter of working memory: `refused` for low confidence, `ignored` for being too short. */
export type IngressVerdict = 'admitted' | 'refused' | 'ignored';

/** Decides if a record may enter working memory. Without a confidence it may; with one that is no number it may not. */
export function ingressVerdict({ content, metadata }: MemoryRecord): IngressVerdict {
  const { confidence } = metadata;
  if (confidence !== undefined && !(typeof confidence === 'number' && confidence >= MIN_CONFIDENCE)) return 'refused';
  return [...content].length < MIN_CHARACTERS ? 'ignored' : 'admitted';
}
