import { BenchError } from '../../config/bench-error.ts';
import type { BenchDatabase } from '../../db/database.ts';
import type { EmbeddingService } from '../../embedding/embedding-service.ts';
import type { LanguageModel } from '../../llm/language-model.ts';
import type { ModelSequence } from '../../llm/model-sequence.ts';
import type { MemorySearchResult } from '../../memory/memory-search-result.ts';
import type { BenchSystem } from '../../systems/bench-system.ts';
import type { ChatResponse } from '../../systems/contracts.ts';
import type { DatabaseConversationLog } from '../../systems/conversation-log.ts';
import type { MemoryKeeper } from '../../systems/memory-keeper.ts';
import type { DatasetItem, DatasetUser } from '../dataset/dataset.ts';
import { visibleMemories } from '../dataset/visible-memories.ts';
import { scoreTurn, type Scores } from '../metrics/scores.ts';
import type { Suite } from '../suites/suite.ts';
import type { Arm } from './arms.ts';
import { donated } from './donor.ts';
import type { ItemStage } from './item-stage.ts';
import { rotated } from './rotation.ts';
import type { SequencePieces } from './sequence-pieces.ts';
import { TurnProof } from './turn-proof.ts';
import { sessionIdOf, TurnWriter, type TurnOutcome } from './turn-writer.ts';

/** An arm with its system, open for the whole run. */
export interface OpenArm {
  readonly arm: Arm;
  readonly system: BenchSystem;
}

/** What all users of a run share. */
export interface RunBench {
  readonly runId: string;
  readonly suite: Suite;
  /** The users of the run, all of them: donors of the control. */
  readonly users: readonly DatasetUser[];
  /** Some of them speak another language than others. */
  readonly mixesLanguages: boolean;
  readonly model: LanguageModel;
  /** A sequence of its own for scoring, outside every meter. */
  readonly scoring: ModelSequence;
  readonly embeddings: EmbeddingService;
  readonly database: BenchDatabase;
  readonly log: DatabaseConversationLog;
  readonly keeper: MemoryKeeper;
  readonly stage: ItemStage;
  readonly pieces: SequencePieces;
  readonly arms: readonly OpenArm[];
  readonly settings: {
    readonly seed: number;
    readonly repeats: number;
    readonly topK: number;
    readonly threshold: number;
    /** Scores each answer where it was given, too: another pass a turn, for suites that measure fluency. */
    readonly scoresAnswers: boolean;
  };
  /** Keep K/V from user to user (`--kv-store`). */
  readonly sharesStore: boolean;
}

/** Asks the questions of one user: recall once an item, then every arm in rotated order, each turn written whole. */
export class UserRun {
  readonly #bench: RunBench;
  readonly #writer: TurnWriter;
  readonly #user: DatasetUser;
  readonly #position: number;
  #indexed = new Set<string>();

  /** @param position place of the user among all users of the run, from 0: the order of arms depends on it */
  constructor(bench: RunBench, user: DatasetUser, position: number) {
    this.#bench = bench;
    this.#writer = new TurnWriter(bench, user);
    this.#user = user;
    this.#position = position;
  }

  get userId(): string {
    return this.#user.userId;
  }

  /** Turns that the user takes in all. */
  get turns(): number {
    return this.#user.items.length * this.#bench.arms.length * this.#bench.settings.repeats;
  }

  /** @param onTurn called after every turn @throws the reason of an aborted signal, between two turns */
  async run(onTurn: () => void, signal: AbortSignal): Promise<void> {
    const { arms, embeddings, keeper, settings, sharesStore } = this.#bench;
    for (let repeat = 0; repeat < settings.repeats; repeat++) {
      // A repeat is the same experiment again: nothing of the last one may be found.
      embeddings.clear();
      await keeper.reset();
      if (!sharesStore) arms.forEach(({ system }) => system.reset());
      for (const [index, item] of this.#user.items.entries()) {
        await this.#stageItem(item);
        const proof = new TurnProof(this.#bench, item, this.#user.speech);
        const order = rotated(arms, settings.seed, this.#position + index + repeat);
        const outcomes: TurnOutcome[] = [];
        for (const arm of order) {
          signal.throwIfAborted();
          outcomes.push(await this.#takeTurn(item, arm, repeat, proof));
          onTurn();
        }
        // Only now is known what the reference of each expected.
        this.#writer.write(item, repeat, outcomes);
      }
      this.#bench.stage.endConversations();
    }
  }

  /** One turn of every arm on the first item, unwritten: caches of the machine are warm after it. */
  async warmUp(): Promise<void> {
    const { arms, sharesStore, stage } = this.#bench;
    const item = this.#user.items[0]!;
    await this.#stageItem(item);
    for (const { system } of arms) {
      // K/V of a user of its own: what is shared on purpose stays, and nobody finds this.
      await system.chat({ query: item.query, sessionId: 'warm-up', userId: 'warm-up' });
      if (!sharesStore) system.reset();
    }
    stage.takeRecord();
  }

  /** Puts the memories of that time into the index, recalls once, and lays the item before the arms. */
  async #stageItem(item: DatasetItem): Promise<void> {
    const { keeper, settings, stage, users } = this.#bench;
    const { userId } = this.#user;
    const visible = visibleMemories(this.#user, item);
    await this.#index(visible);
    for (const { system } of this.#bench.arms) await system.prepare?.(userId, visible);
    const recalled = await keeper.recall(item.query, {
      userId,
      topK: settings.topK,
      threshold: settings.threshold,
      now: new Date(item.askedAt),
      history: item.history,
    });
    const all = visible.map((memory): MemorySearchResult => ({ ...keeperEntry(memory), score: 1 }));
    stage.put({
      recalled,
      all,
      evidence: all.filter((memory) => item.evidence.includes(memory.memoryId)),
      donated: donated(recalled.memories, users, this.#user, item.itemId, settings.seed),
      history: item.history,
    });
  }

  async #index(visible: readonly DatasetUser['memories'][number][]): Promise<void> {
    const { keeper, runId } = this.#bench;
    const sessionId = `${runId}/${this.#user.userId}`;
    const wanted = new Set(visible.map((memory) => memory.memoryId));
    for (const memoryId of this.#indexed) {
      if (!wanted.has(memoryId)) await keeper.remove(sessionId, memoryId, this.#user.userId);
    }
    const added = visible.filter((memory) => !this.#indexed.has(memory.memoryId));
    if (added.length > 0) await keeper.addAll(sessionId, this.#user.userId, added.map(keeperEntry));
    this.#indexed = wanted;
  }

  async #takeTurn(item: DatasetItem, { arm, system }: OpenArm, repeat: number, proof: TurnProof): Promise<TurnOutcome> {
    const { model, stage } = this.#bench;
    const { userId } = this.#user;
    const sessionId = sessionIdOf(this.#bench.runId, item, arm, repeat);
    // Each arm pays for tokenising its own prompt, whoever stood before it.
    model.forgetTexts();
    try {
      const response = await system.chat({ query: item.query, sessionId, userId });
      const proven = await proof.of(arm, system, response);
      if (item.conversation !== undefined) stage.goOn(sessionId, item.query, response.text);
      return { arm, record: stage.takeRecord(), response, scores: this.#score(item, response), proven };
    } catch (error) {
      // Without a place to write to no later turn could be kept either: the run ends, and can be resumed.
      if (error instanceof BenchError && (error.code === 'disk' || error.code === 'database')) throw error;
      const message = error instanceof Error ? error.message : String(error);
      return { arm, record: stage.takeRecord(), error: message };
    }
  }

  #score(item: DatasetItem, response: ChatResponse): Scores {
    const { all } = this.#bench.stage.current;
    const kept = response.memoriesUsed.map((memory) => memory.memoryId);
    const shown = response.promptInfo.segments.filter((segment) => segment.role === 'memory');
    const recalled = response.metadata['recalled'] as readonly MemorySearchResult[];
    return scoreTurn(
      item,
      {
        answer: response.text,
        storedIds: all.map((memory) => memory.memoryId),
        recalledIds: recalled.map((memory) => memory.memoryId),
        keptIds: kept,
        shown: response.memoriesUsed
          .filter((memory) => shown.some((segment) => segment.memoryId === memory.memoryId))
          .map((memory) => ({
            memoryId: memory.memoryId,
            content: memory.content,
            value: memory.metadata['value'] as string | undefined,
          })),
      },
      this.#user.speech,
    );
  }
}

function keeperEntry(memory: DatasetUser['memories'][number]): {
  readonly memoryId: string;
  readonly content: string;
  readonly metadata: Readonly<Record<string, unknown>>;
} {
  const { memoryId, content, createdAt, preference, value, section, memoryType, reinforcement } = memory;
  const metadata = {
    ...{ createdAt, preference },
    ...(value === undefined ? {} : { value }),
    // By the names of the source documents.
    ...(section === undefined ? {} : { section }),
    ...(memoryType === undefined ? {} : { memory_type: memoryType }),
    ...(reinforcement === undefined ? {} : { reinforcement }),
  };
  return { memoryId, content, metadata };
}
