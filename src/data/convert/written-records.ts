import { createHash } from 'node:crypto';
import { BenchError } from '../../base/bench-error.ts';
import { didYouMean } from '../../base/nearest-name.ts';
import { shownValue } from '../../base/shown-value.ts';
import { checkedBy } from '../parse-record.ts';
import { recordSchemas, type WrittenRecord } from '../schema.ts';
import type { ConversionNotes, SourceItem, SourceMemory, SourceRecord } from './source-record.ts';

const DAY_MS = 86_400_000;
/** The first generated time of a file without times. */
const FIRST_MS = Date.UTC(2000, 0, 1);

interface KnownMemory {
  readonly id: string;
  readonly userId: string;
  readonly createdMs: number;
  readonly contentKey: string;
}

type PlacedItem = SourceItem & { readonly evidence: readonly string[] };

interface KnownUser {
  memories: number;
  items: number;
  latestMs: number;
}

/** Hashes user and content, since texts may be long and many. */
function contentKey({ userId, content }: Pick<SourceMemory, 'userId' | 'content'>): string {
  return createHash('sha256').update(`${userId}\n${content}`).digest('base64');
}

/** Drops fields without a value, which the schema refuses. */
function defined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/**
 * Converts records of a foreign file into those of a data set: generates missing ids and times, resolves the memories that
 * evidence names, and checks every record against the schema. Memories are written in their order, items at the end,
 * after all memories are known.
 */
export class WrittenRecords {
  readonly #notes: ConversionNotes;
  readonly #memories = new Map<string, KnownMemory>();
  readonly #byContent = new Map<string, KnownMemory>();
  readonly #users = new Map<string, KnownUser>();
  readonly #items: PlacedItem[] = [];
  readonly #itemPlaces = new Map<string, string>();
  readonly #superseding: { readonly later: KnownMemory; readonly earlierId: string; readonly place: string }[] = [];
  readonly #linking: { readonly userId: string; readonly id: string; readonly place: string }[] = [];
  #timed: boolean | undefined;

  constructor(notes: ConversionNotes) {
    this.#notes = notes;
  }

  get counts(): { readonly users: number; readonly memories: number; readonly items: number } {
    return { users: this.#users.size, memories: this.#memories.size, items: this.#itemPlaces.size };
  }

  /** Converts a stream of records. @throws BenchError `bad-data` that names the place in the foreign file */
  async *of(source: AsyncIterable<SourceRecord>): AsyncGenerator<WrittenRecord> {
    let preceding: KnownMemory | undefined;
    for await (const record of source) {
      if (record.kind === 'item') {
        const ofRow = record.evidence === 'preceding' ? [preceding!.id] : record.evidence;
        this.#items.push({ ...record, evidence: ofRow });
        continue;
      }
      const same = this.#sameMemory(record);
      if (same === undefined) {
        const written = this.#memory(record);
        preceding = this.#memories.get(written.memoryId)!;
        yield written;
      } else {
        preceding = same;
      }
    }
    this.#checkSupersession();
    this.#checkLinks();
    for (const item of this.#items) yield this.#item(item);
  }

  #user(userId: string): KnownUser {
    const known = this.#users.get(userId) ?? { memories: 0, items: 0, latestMs: -Infinity };
    this.#users.set(userId, known);
    return known;
  }

  /** Returns the memory that was written before, if a row repeats it beside another question. */
  #sameMemory(memory: SourceMemory): KnownMemory | undefined {
    const known =
      memory.memoryId === undefined
        ? this.#byContent.get(contentKey(memory))
        : this.#memories.get(memory.memoryId.trim());
    if (known === undefined) return undefined;
    const sameTime = memory.createdAt === undefined || Date.parse(memory.createdAt) === known.createdMs;
    if (known.contentKey === contentKey(memory) && sameTime) {
      this.#notes.add('a memory that stands in several rows was written once', memory.place);
      return known;
    }
    if (memory.memoryId === undefined) return undefined;
    const message = `${memory.place}: memory_id expected an id of its own, got ${shownValue(memory.memoryId)}, which another memory has`;
    throw new BenchError('bad-data', message, 'ids are unique in the whole file');
  }

  #memory(memory: SourceMemory): Extract<WrittenRecord, { type: 'memory' }> {
    const { kind: _, place, userId, memoryId: givenId, content, createdAt: givenTime, ...more } = memory;
    const { updatedAt, links = [] } = more;
    const supersedes = more.supersedes?.trim();
    const user = this.#user(userId);
    const createdAt = givenTime ?? new Date(FIRST_MS + this.#memories.size * 1000).toISOString();
    this.#requireAllTimed(memory);
    const memoryId = givenId?.trim() ?? this.#freeId(`${userId}-m`, ++user.memories);
    const required = { type: 'memory' as const, userId, memoryId, content, createdAt };
    const record = { ...required, ...defined({ ...more, supersedes }) };
    checkedBy(recordSchemas.memory, record, place);
    const createdMs = Date.parse(createdAt);
    if (updatedAt !== undefined && Date.parse(updatedAt) < createdMs) {
      const message = `${place}: updated_at expected a time from created_at on, got ${shownValue(updatedAt)}`;
      throw new BenchError('bad-data', message, 'correct one of the two, or leave it empty');
    }
    const known = { id: memoryId, userId, createdMs, contentKey: contentKey(memory) };
    user.latestMs = Math.max(user.latestMs, createdMs);
    this.#memories.set(memoryId, known);
    this.#byContent.set(known.contentKey, known);
    if (supersedes !== undefined) this.#superseding.push({ later: known, earlierId: supersedes, place });
    for (const id of links) this.#linking.push({ userId, id, place });
    return record;
  }

  #freeId(prefix: string, number: number): string {
    const id = `${prefix}${String(number).padStart(2, '0')}`;
    return this.#memories.has(id) ? this.#freeId(prefix, number + 1) : id;
  }

  /** Refuses a memory without a time among memories with times: its place in the order would be arbitrary. */
  #requireAllTimed({ createdAt, place }: SourceMemory): void {
    const timed = createdAt !== undefined;
    this.#timed ??= timed;
    if (this.#timed !== timed) {
      const message = `${place}: created_at expected a time for every memory or for none, got ${shownValue(createdAt)}`;
      throw new BenchError('bad-data', message, 'other memories of this file say it otherwise');
    }
    if (!timed) this.#notes.add('memories without created_at were given times in the order of the file', place);
  }

  /** Runs after all memories are known, since the earlier memory may stand below the later one. */
  #checkSupersession(): void {
    for (const { later, earlierId, place } of this.#superseding) {
      const earlier = this.#memories.get(earlierId);
      if (earlier?.userId !== later.userId) throw this.#foreign(place, 'supersedes', later.userId, earlierId);
      const before = earlier.createdMs - later.createdMs || (earlier.id < later.id ? -1 : 1);
      if (before < 0) continue;
      const message = `${place}: supersedes expected an earlier memory, got ${shownValue(earlierId)}`;
      throw new BenchError('bad-data', message, 'the later memory supersedes the earlier one');
    }
  }

  /** As that of supersession, since a link may name a memory below. */
  #checkLinks(): void {
    for (const { userId, id, place } of this.#linking) {
      if (this.#memories.get(id)?.userId !== userId) throw this.#foreign(place, 'links', userId, id);
    }
  }

  #item(item: PlacedItem): WrittenRecord {
    const { kind: _, place, userId, itemId: givenId, query, answer, evidence: __, askedAt: givenTime, ...more } = item;
    const user = this.#user(userId);
    const askedAt = givenTime ?? this.#dayAfter(item, user.latestMs);
    const itemId = givenId?.trim() ?? `${userId}-q${String(++user.items).padStart(2, '0')}`;
    const other = this.#itemPlaces.get(itemId);
    if (other !== undefined) {
      const message = `${place}: item_id expected an id of its own, got ${shownValue(itemId)}, which ${other} has`;
      throw new BenchError('bad-data', message, 'ids are unique in the whole file');
    }
    this.#itemPlaces.set(itemId, place);
    const evidence = this.#evidence(item, Date.parse(askedAt));
    const passages = item.passages === undefined ? undefined : this.#memoriesOf(item, 'passages', Date.parse(askedAt));
    const required = { type: 'item' as const, itemId, userId, query, answer, evidence, askedAt };
    const record = { ...required, ...defined({ ...more, passages }) };
    checkedBy(recordSchemas.item, record, place);
    return record;
  }

  #dayAfter({ place }: SourceItem, latestMs: number): string {
    this.#notes.add("questions without asked_at are asked a day after their user's last memory", place);
    return new Date((Number.isFinite(latestMs) ? latestMs : FIRST_MS) + DAY_MS).toISOString();
  }

  #evidence(item: PlacedItem, askedMs: number): string[] {
    const { answer, evidence, place } = item;
    const memories = this.#memoriesOf(item, 'evidence', askedMs);
    if (answer !== null || memories.length === 0) return memories;
    const message = `${place}: evidence expected none where answer is empty, got ${shownValue(evidence)}`;
    throw new BenchError('bad-data', message, 'leave evidence empty: no memory answers such a question');
  }

  /** Ids of the memories that a field names, each once, in its order. */
  #memoriesOf(item: PlacedItem, field: 'evidence' | 'passages', askedMs: number): string[] {
    const { userId, place } = item;
    const memories = (item[field] ?? []).flatMap((text) => this.#named(userId, text, { place, field }));
    const late = memories.find(({ createdMs }) => createdMs > askedMs);
    if (late !== undefined) {
      const message = `${place}: ${field} expected a memory from before asked_at, got ${shownValue(late.id)}`;
      throw new BenchError('bad-data', message, 'a question sees only memories that exist when it is asked');
    }
    return [...new Set(memories.map(({ id }) => id))];
  }

  /** Resolves an id, the whole text of a memory, or several of either, separated by semicolons. */
  #named(
    userId: string,
    text: string,
    { place, field }: { readonly place: string; readonly field: string },
  ): KnownMemory[] {
    const whole = this.#found(userId, text);
    if (whole !== undefined) return [whole];
    const parts = text.split(';').filter((part) => part.trim() !== '');
    return parts.map((part) => {
      const found = this.#found(userId, part);
      if (found === undefined) throw this.#foreign(place, field, userId, part.trim());
      return found;
    });
  }

  #found(userId: string, text: string): KnownMemory | undefined {
    const byId = this.#memories.get(text.trim());
    if (byId?.userId === userId) return byId;
    return (
      this.#byContent.get(contentKey({ userId, content: text })) ??
      this.#byContent.get(contentKey({ userId, content: text.trim() }))
    );
  }

  #foreign(place: string, field: string, userId: string, id: string): BenchError {
    const own = [...this.#memories.values()].filter((memory) => memory.userId === userId).map((memory) => memory.id);
    const message = `${place}: ${field} expected a memory of user ${userId}, got ${shownValue(id)}${didYouMean(id, own)}`;
    return new BenchError('bad-data', message, 'write the memory_id of a memory of the same user, or its whole text');
  }
}
