import { createHash } from 'node:crypto';
import { BenchError } from '../../../config/bench-error.ts';

/** What all three layers of the protocol hold. */
export interface MemoryRecord {
  readonly memoryId: string;
  readonly content: string;
  /** JSON. `confidence`, from 0 to 1, is what the ingress filter looks at. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970. */
  readonly createdAtMs: number;
}

/**
 * A UUID made from a name, always the same: what a group is called in every store, as in the seed's tables. A name that
 * would be a pattern, a separator or a statement somewhere never gets there.
 */
export function uuidOf(name: string): string {
  // In UTF-16, where halves of surrogate pairs are not all the same.
  const hex = createHash('sha256').update(name, 'utf16le').digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * The record as every store can hold it and give it back: metadata as JSON gives it, texts that are Unicode.
 * @throws BenchError `bad-data` for a text that a database would refuse or change, or a time that is none
 */
export function checkedRecord(record: MemoryRecord): MemoryRecord {
  const refuse = (what: string): never => {
    const name = JSON.stringify(record.memoryId);
    throw new BenchError('bad-data', `memory ${name} ${what}`, 'correct it, or recall with --retriever router');
  };
  const check = (text: string): void => {
    if (text.includes('\0')) refuse('holds a NUL character, which databases do not store');
    // By code point, where the halves of a whole pair are none.
    if (/\p{Surrogate}/u.test(text)) refuse('holds half of a surrogate pair, which databases do not store');
  };
  check(record.memoryId);
  check(record.content);
  if (!Number.isFinite(record.createdAtMs)) refuse('has a creation time that is no time');
  const json = JSON.stringify(record.metadata, (key, value: unknown) => {
    check(key);
    if (typeof value === 'string') check(value);
    return value;
  });
  return { ...record, metadata: JSON.parse(json) as Readonly<Record<string, unknown>> };
}
