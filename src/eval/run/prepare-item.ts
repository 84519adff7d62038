import {
  type DatasetItem,
  type DatasetMemory,
  type DatasetUser,
  indexChanges,
  visibleMemories,
} from '../../data/dataset.ts';
import { profileOf } from '../../data/user-language.ts';
import type { MemorySearchResult } from '../../retrieval/retriever.ts';
import type { ChatRequest } from '../../systems/contracts.ts';
import type { MemorySources } from '../../systems/arms/given-memories.ts';
import type { MemoryKeeper } from '../../systems/memory-keeper.ts';
import { donated } from './donor.ts';
import { memoryEntry } from './memory-entry.ts';
import type { OpenArm } from './open-arms.ts';

/** The parts of a run that preparing an item needs. */
export interface PreparationParts {
  readonly runId: string;
  /** Of the memories that the negative control is shown. */
  readonly donors: readonly DatasetUser[];
  readonly keeper: MemoryKeeper;
  readonly arms: readonly Pick<OpenArm, 'system' | 'recorder'>[];
  readonly settings: { readonly seed: number; readonly topK: number; readonly threshold: number };
}

/** One item as every arm is asked it: retrieved once, with the memories that the user had. */
export interface PreparedItem {
  readonly item: DatasetItem;
  /** The question, in the words and the language in which its data set asks it. */
  readonly asked: Pick<ChatRequest, 'query' | 'language' | 'systemPrompt' | 'answerPrefix'>;
  readonly visible: readonly DatasetMemory[];
  readonly sources: MemorySources;
}

/** Prepares the items of one user, in their order: the index holds the memories that the user had when asked. */
export class ItemPreparer {
  readonly #parts: PreparationParts;
  readonly #user: DatasetUser;
  #indexed: ReadonlySet<string> = new Set();

  constructor(parts: PreparationParts, user: DatasetUser) {
    this.#parts = parts;
    this.#user = user;
  }

  /** Puts the memories of that time into the index, and retrieves once for all arms. */
  async prepare(item: DatasetItem, signal: AbortSignal): Promise<PreparedItem> {
    const { arms, donors, keeper, settings } = this.#parts;
    const { userId } = this.#user;
    const visible = visibleMemories(this.#user, item);
    await this.#index(visible);
    const asked = this.#asked(item);
    for (const { system, recorder } of arms) {
      await recorder.declared(async () => system.prepare?.(userId, visible, { ...asked, signal }));
    }
    const start = performance.now();
    const found = await keeper.retrieve(item.query, {
      userId,
      topK: settings.topK,
      threshold: settings.threshold,
      now: new Date(item.askedAt),
      history: item.history,
      passages: item.passages,
    });
    const retrieved = { ...found, elapsedMs: performance.now() - start };
    const all = visible.map((memory): MemorySearchResult => ({ ...memoryEntry(memory), score: 1 }));
    // By id: a run may store no texts.
    const preferred = new Set(keeper.preferences(userId).map(({ memoryId }) => memoryId));
    const sources: MemorySources = {
      retrieved,
      all,
      preferences: all.filter(({ memoryId }) => preferred.has(memoryId)),
      evidence: all.filter((memory) => item.evidence.includes(memory.memoryId)),
      donated: donated(retrieved.memories, donors, this.#user, item, settings.seed),
    };
    return { item, asked, visible, sources };
  }

  #asked({ query, language, systemPrompt, answerPrefix }: DatasetItem): PreparedItem['asked'] {
    return {
      query,
      language: profileOf(language, this.#user.languageProfile).language,
      ...(systemPrompt === undefined ? {} : { systemPrompt }),
      ...(answerPrefix === undefined ? {} : { answerPrefix }),
    };
  }

  async #index(visible: readonly DatasetMemory[]): Promise<void> {
    const { keeper, runId } = this.#parts;
    const sessionId = `${runId}/${this.#user.userId}`;
    const { removed, added } = indexChanges(this.#indexed, visible);
    for (const memoryId of removed) await keeper.remove(sessionId, memoryId, this.#user.userId);
    if (added.length > 0) await keeper.addAll(sessionId, this.#user.userId, added.map(memoryEntry));
    this.#indexed = new Set(visible.map(({ memoryId }) => memoryId));
  }
}
