import { createHash } from 'node:crypto';
import { type BenchError, didYouMean, formatValue } from '../../base/bench-error.ts';
import { duplicateId, referenceChecks, scopedId } from '../check-consistency.ts';
import type { Placed } from '../read-records.ts';
import { type WrittenItem, type WrittenMemory, type MemoryRecord, recordSchemas } from '../record-schemas.ts';
import type { ConversionNotes, SourceItem, SourceMemory, SourceRecord } from './source-record.ts';
import { checkSchema, mismatch } from '../check-schema.ts';
import { LIST_SEPARATOR } from './convert-row.ts';
import { DAY_MS, UNDATED_START_MS } from './dates.ts';

type PlacedItem = SourceItem & { readonly evidence: readonly string[] };

interface KnownUser {
  latestMs: number;
  memoryNumber: number;
  itemNumber: number;
  readonly byContent: Map<string, MemoryRecord>;
}

/** Stored instead of a memory's text, since texts may be long and many. */
function hashText(content: string): string {
  return createHash('sha256').update(content).digest('base64');
}

const padded = (number: number): string => String(number).padStart(2, '0');

/**
 * Converts records of a foreign file to data set records: generates missing ids and times, resolves evidence to ids of
 * memories, and checks every record. Yields memories in file order, then all items.
 */
export class RecordCompleter {
  readonly #notes: ConversionNotes;
  /** Records by `scopedId`; their `content` is the hash of the text. */
  readonly #memories = new Map<string, Placed<MemoryRecord>>();
  readonly #users = new Map<string, KnownUser>();
  readonly #items: PlacedItem[] = [];
  readonly #itemPlaces = new Map<string, string>();
  #timed: boolean | undefined;

  constructor(notes: ConversionNotes) {
    this.#notes = notes;
  }

  get counts(): { readonly users: number; readonly memories: number; readonly items: number } {
    return { users: this.#users.size, memories: this.#memories.size, items: this.#itemPlaces.size };
  }

  /** Converts a stream of records. @throws BenchError `bad-data` that names the place in the foreign file */
  async *convert(source: AsyncIterable<SourceRecord>): AsyncGenerator<WrittenMemory | WrittenItem> {
    let preceding = '';
    for await (const given of source) {
      const record = { ...given, userId: given.userId.normalize('NFC') };
      if (record.kind === 'item') {
        this.#items.push({ ...record, evidence: record.evidence === 'preceding' ? [preceding] : record.evidence });
        continue;
      }
      const same = this.#findRepeated(record);
      const written = same === undefined ? this.#writeMemory(record) : undefined;
      preceding = (same ?? written!).memoryId;
      if (written !== undefined) yield written;
    }
    // At the end, since a memory may refer to one further down in the file.
    const { checkMemory, checkQuestion } = referenceChecks(this.#memories, (_rule, problem) => {
      throw problem;
    });
    for (const memory of this.#memories.values()) checkMemory(memory);
    for (const item of this.#items) {
      const written = this.#writeItem(item);
      checkQuestion({ record: checkSchema(recordSchemas.item, written, item.place), place: item.place });
      yield written;
    }
  }

  #user(userId: string): KnownUser {
    const empty = { latestMs: -Infinity, memoryNumber: 0, itemNumber: 0, byContent: new Map() };
    const user = this.#users.get(userId) ?? empty;
    this.#users.set(userId, user);
    return user;
  }

  /** Finds this memory in an earlier row: a file with a row for each question repeats the memory in each. */
  #findRepeated({ userId, memoryId, content, createdAt, place }: SourceMemory): MemoryRecord | undefined {
    const byId = memoryId === undefined ? undefined : this.#byId(userId, memoryId);
    const known = memoryId === undefined ? this.#users.get(userId)?.byContent.get(hashText(content)) : byId?.record;
    if (known === undefined) return undefined;
    const sameTime = createdAt === undefined || Date.parse(createdAt) === Date.parse(known.createdAt);
    if (known.content === hashText(content) && sameTime) {
      this.#notes.add('a memory that several rows repeat was written once', place);
      return known;
    }
    if (byId === undefined) return undefined;
    throw duplicateId(`${place}: memory_id`, memoryId!, byId.place);
  }

  #writeMemory(memory: SourceMemory): WrittenMemory {
    const { kind: _, place, userId, memoryId: givenId, content, createdAt: givenTime, ...more } = memory;
    this.#requireAllTimed(memory);
    const user = this.#user(userId);
    const createdAt = givenTime ?? new Date(UNDATED_START_MS + this.#memories.size * 1000).toISOString();
    const memoryId = givenId?.trim().normalize('NFC') ?? this.#newMemoryId(userId, user);
    const required = { type: 'memory' as const, userId, memoryId, content, createdAt };
    const written = { ...required, ...more, supersedes: more.supersedes?.trim() } as WrittenMemory;
    const record = { ...checkSchema(recordSchemas.memory, written, place), content: hashText(content) };
    user.latestMs = Math.max(user.latestMs, Date.parse(createdAt));
    user.byContent.set(record.content, record);
    this.#memories.set(scopedId(userId, memoryId), { record, place });
    return written;
  }

  #newMemoryId(userId: string, user: KnownUser): string {
    let number = ++user.memoryNumber;
    while (this.#byId(userId, `${userId}-m${padded(number)}`) !== undefined) number++;
    return `${userId}-m${padded(number)}`;
  }

  /** Refuses to mix memories with and without times, since their order would be arbitrary. */
  #requireAllTimed({ createdAt, place }: SourceMemory): void {
    const timed = createdAt !== undefined;
    this.#timed ??= timed;
    if (this.#timed !== timed) {
      const hint = `earlier memories of this file have ${this.#timed ? 'times' : 'none'}`;
      throw mismatch(`${place}: created_at`, 'a time for every memory or for none', formatValue(createdAt), hint);
    }
    if (!timed) this.#notes.add('memories without created_at were given times in the order of the file', place);
  }

  #writeItem(item: PlacedItem): WrittenItem {
    const { kind: _, place, userId, itemId: givenId, query, answer, askedAt: givenTime, ...more } = item;
    const user = this.#user(userId);
    if (givenTime === undefined) {
      this.#notes.add("questions without asked_at are asked a day after their user's last memory", place);
    }
    const lastMs = Number.isFinite(user.latestMs) ? user.latestMs : UNDATED_START_MS;
    const askedAt = givenTime ?? new Date(lastMs + DAY_MS).toISOString();
    const itemId = givenId?.trim().normalize('NFC') ?? `${userId}-q${padded(++user.itemNumber)}`;
    const other = this.#itemPlaces.get(scopedId(userId, itemId));
    if (other !== undefined) throw duplicateId(`${place}: item_id`, itemId, other);
    this.#itemPlaces.set(scopedId(userId, itemId), place);
    const evidence = this.#findNamed(item, 'evidence');
    const passages = item.passages && this.#findNamed(item, 'passages');
    const required = { type: 'item' as const, itemId, userId, query, answer, evidence, askedAt };
    return { ...required, ...more, evidence, passages } as WrittenItem;
  }

  /** Distinct ids of the memories of a field, whose entries are ids or whole texts, or several of them separated by semicolons. */
  #findNamed(item: PlacedItem, field: 'evidence' | 'passages'): string[] {
    const at = `${item.place}: ${field}`;
    const memories = (item[field] ?? []).flatMap((text) => {
      const whole = this.#find(item.userId, text);
      if (whole !== undefined) return whole;
      const parts = text.split(LIST_SEPARATOR).filter((part) => part.trim() !== '');
      return parts.map((part) => {
        const found = this.#find(item.userId, part);
        if (found === undefined) throw this.#foreign(at, item.userId, part.trim());
        return found;
      });
    });
    return [...new Set(memories.map(({ memoryId }) => memoryId))];
  }

  #byId(userId: string, id: string): Placed<MemoryRecord> | undefined {
    return this.#memories.get(scopedId(userId, id.trim().normalize('NFC')));
  }

  #find(userId: string, text: string): MemoryRecord | undefined {
    const byId = this.#byId(userId, text)?.record;
    if (byId !== undefined) return byId;
    const byContent = this.#users.get(userId)?.byContent;
    return byContent?.get(hashText(text)) ?? byContent?.get(hashText(text.trim()));
  }

  #foreign(at: string, userId: string, id: string): BenchError {
    const own = [...this.#memories.values()].flatMap(({ record }) => (record.userId === userId ? record.memoryId : []));
    const hint = 'write the memory_id of a memory of the same user, or its whole text';
    return mismatch(at, `a memory of user ${userId}`, formatValue(id) + didYouMean(id, own), hint);
  }
}
