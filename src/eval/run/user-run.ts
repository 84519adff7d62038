import { BenchError } from '../../base/bench-error.ts';
import type { DatasetItem, DatasetMemory, DatasetUser } from '../../data/dataset.ts';
import { profileOf } from '../../data/user-language.ts';
import type { EmbeddingService } from '../../models/embedding/embedding-service.ts';
import type { HistoryMessage } from '../../store/records/prompt-info.ts';
import type { Scores } from '../../store/records/scores.ts';
import type { Arm } from '../../systems/arms/arm-registry.ts';
import { givenMemories } from '../../systems/arms/given-memories.ts';
import type { ChatRequest, ChatResponse } from '../../systems/contracts.ts';
import { isPreference } from '../../systems/prompt/placement.ts';
import type { MemorySearchResult } from '../../retrieval/retriever.ts';
import type { Judge } from './judge/judge.ts';
import { scoreTurn } from '../analysis/metrics/scores.ts';
import { armOrder } from './arm-order.ts';
import { isAskedOf } from './asked-of-arm.ts';
import type { RunClock } from './run-clock.ts';
import type { UserOfPlan } from './users-of-plan.ts';
import type { UserQueue } from './user-queue.ts';
import { measuredResponse } from './record/measured-response.ts';
import { type ObserverParts, TurnObserver } from './observe/turn-observer.ts';
import type { TurnProver } from './prove/turn-prover.ts';
import type { TurnSample } from './prove/turn-sample.ts';
import type { OpenArm } from './open-arms.ts';
import { ItemPreparer, type PreparationParts, type PreparedItem } from './prepare-item.ts';
import type { WarmTurn, WarmUp } from './run-estimate.ts';
import type { Suite } from './suite.ts';
import { sessionIdOf, type TurnOutcome, TurnWriter, type WriterParts } from './turn-writer.ts';

/** As many turns in a row that reach no engine end the run, which can be resumed. */
const UNREACHED_AT_MOST = 2;

/** Everything that all users of a run share. */
export interface RunBench extends WriterParts, ObserverParts, PreparationParts {
  readonly suite: Suite;
  /** Of the whole plan, whoever asks them. */
  readonly users: readonly DatasetUser[];
  /** Those whom this run asks. */
  readonly planned: readonly UserOfPlan[];
  readonly queue: UserQueue<UserOfPlan>;
  /** Turns that are proven anew. */
  readonly sample: TurnSample;
  readonly embeddings: EmbeddingService;
  readonly arms: readonly OpenArm[];
  /** The metric by which an answer is right. */
  readonly success: string;
  readonly settings: PreparationParts['settings'] & { readonly repeats: number };
  readonly clock: RunClock;
  /** Asked about the answers when all turns are there; missing where none is. */
  readonly judge?: Judge;
  /** Keep K/V from user to user (`--kv-store`). */
  readonly sharesStore: boolean;
}

/** A turn that was answered and observed, before the other arms of its item have answered. */
type TakenTurn =
  | {
      readonly arm: Arm;
      readonly request: ChatRequest;
      readonly response: ChatResponse;
      readonly scores: Scores;
      readonly proof: Awaited<ReturnType<TurnProver['prove']>>;
    }
  | { readonly arm: Arm; readonly error: unknown };

/** Asks the questions of one user: retrieves once an item, then every arm in rotated order, each turn written whole. */
export class UserRun {
  readonly #bench: RunBench;
  readonly #writer: TurnWriter;
  readonly #user: DatasetUser;
  readonly #itemsBefore: number;
  readonly #preparer: ItemPreparer;
  /** Messages so far of conversations that go on over several items, by session. */
  readonly #conversations = new Map<string, readonly HistoryMessage[]>();
  /** Turns in a row that no engine could be reached for. */
  #unreached = 0;

  constructor(bench: RunBench, { user, itemsBefore }: UserOfPlan) {
    this.#bench = bench;
    this.#writer = new TurnWriter(bench, user);
    this.#preparer = new ItemPreparer(bench, user);
    this.#user = user;
    this.#itemsBefore = itemsBefore;
  }

  /**
   * @param prover proves a sample of the turns anew @param onTurn called after every turn
   * @throws the reason of an aborted signal, within a turn too; items that were finished are stored
   */
  async run(prover: TurnProver, onTurn: () => void, signal: AbortSignal): Promise<void> {
    const { arms, clock, embeddings, keeper, settings, sharesStore } = this.#bench;
    for (let repeat = 0; repeat < settings.repeats; repeat++) {
      // A repeat is the same experiment again: nothing of the last one may be found.
      embeddings.clear();
      await keeper.reset();
      if (!sharesStore) await this.#resetStores();
      for (const [index, item] of this.#user.items.entries()) {
        const prepared = await clock.time('turns', () => this.#preparer.prepare(item, signal), 'prepared');
        const observer = new TurnObserver(this.#bench, item, profileOf(item.language, this.#user.languageProfile));
        const asked = this.#itemsBefore * settings.repeats + repeat * this.#user.items.length + index;
        const order = armOrder(arms, settings.seed, asked);
        const taken: TakenTurn[] = [];
        for (const arm of order.filter((open) => isAskedOf(open.arm.traits, item))) {
          signal.throwIfAborted();
          taken.push(await this.#takeTurn(prepared, arm, repeat, { observer, prover }, signal));
          onTurn();
        }
        // Only now is known what the reference of each gave.
        const outcomes: TurnOutcome[] = [];
        for (const turn of taken) outcomes.push(await this.#complete(turn, observer, signal));
        await clock.time('turns', () => this.#writer.write(item, prepared.visible, repeat, outcomes));
      }
      this.#conversations.clear();
    }
  }

  /** One turn of every arm on an item of the user, observed and unwritten: caches of the machine are warm after it. */
  async warmUp(item: DatasetItem, signal: AbortSignal): Promise<WarmUp> {
    const { arms, sharesStore } = this.#bench;
    const prepared = await this.#preparer.prepare(item, signal);
    const observer = new TurnObserver(this.#bench, item, profileOf(item.language, this.#user.languageProfile));
    const turns: WarmTurn[] = [];
    for (const { arm, system, session, recorder } of arms) {
      const start = performance.now();
      // K/V of a user of its own: K/V that is shared on purpose stays, and nobody finds this.
      const request = {
        ...prepared.asked,
        sessionId: 'warm-up',
        userId: 'warm-up',
        history: item.history,
        ...givenMemories(arm.traits, prepared.sources),
      };
      const { value, recorded } = await recorder.turn(() => system.chat({ ...request, signal }));
      signal.throwIfAborted();
      const response = measuredResponse(value, recorded, request.retrieved?.elapsedMs ?? 0);
      const answered = performance.now();
      const memories = { visible: prepared.visible, memories: givenTo(arm, request, response) };
      await observer.observe(arm.traits, { session, response, recorded, memories }, { signal });
      const [turnMs, scoringMs] = [answered - start, performance.now() - answered];
      turns.push({ traits: arm.traits, turnMs, scoringMs });
      if (!sharesStore) await recorder.declared(() => system.reset());
    }
    return { user: this.#user, item, turns };
  }

  async #resetStores(): Promise<void> {
    for (const { system, recorder } of this.#bench.arms) await recorder.declared(() => system.reset());
  }

  async #takeTurn(
    { item, asked, visible, sources }: PreparedItem,
    { arm, system, session, recorder }: OpenArm,
    repeat: number,
    { observer, prover }: { readonly observer: TurnObserver; readonly prover: TurnProver },
    signal: AbortSignal,
  ): Promise<TakenTurn> {
    const { userId } = this.#user;
    const sessionId = sessionIdOf(this.#bench.runId, item, arm, repeat);
    const history = [...(this.#conversations.get(sessionId) ?? []), ...item.history];
    const request: ChatRequest = {
      ...asked,
      sessionId,
      userId,
      history,
      ...givenMemories(arm.traits, sources),
    };
    const { clock } = this.#bench;
    try {
      const { value, recorded } = await clock.time('turns', () =>
        recorder.turn(() => system.chat({ ...request, signal })),
      );
      // An answer that was cut short is no turn.
      signal.throwIfAborted();
      const response = measuredResponse(value, recorded, request.retrieved?.elapsedMs ?? 0);
      const memories = { visible, memories: givenTo(arm, request, response) };
      const turn = { session, response, recorded, memories };
      await clock.time('scoring', () => observer.observe(arm.traits, turn, { signal }));
      const proof = await clock.time('checks', () => prover.prove(arm.traits, { item, repeat }, turn, { signal }));
      if (item.conversation !== undefined) {
        const exchange: readonly HistoryMessage[] = [
          { role: 'user', content: item.query },
          { role: 'assistant', content: response.text },
        ];
        this.#conversations.set(sessionId, [...history, ...exchange]);
      }
      this.#unreached = 0;
      return { arm, request, response, scores: this.#score(item, visible, response), proof };
    } catch (error) {
      const isUnreached = error instanceof BenchError && error.code === 'unreachable';
      this.#unreached = isUnreached ? this.#unreached + 1 : 0;
      // One answer that is lost is a turn; a server that is gone answers no later turn either.
      if (this.#unreached === UNREACHED_AT_MOST) throw error;
      return { arm, error: failureOf(error, signal) };
    }
  }

  async #complete(turn: TakenTurn, observer: TurnObserver, signal: AbortSignal): Promise<TurnOutcome> {
    if ('error' in turn) return turn;
    const { arm } = turn;
    try {
      const observed = await this.#bench.clock.time('scoring', () => observer.complete(arm.traits, { signal }));
      return { ...turn, observed: { ...observed, ...turn.proof } };
    } catch (error) {
      return { arm, error: failureOf(error, signal) };
    }
  }

  #score(item: DatasetItem, visible: readonly DatasetMemory[], response: ChatResponse): Scores {
    const kept = response.memoriesUsed.map((memory) => memory.memoryId);
    const shown = response.promptInfo.segments.filter((segment) => segment.role === 'memory');
    return scoreTurn(
      item,
      {
        answer: response.trace.answer.text,
        storedIds: visible.map((memory) => memory.memoryId),
        retrievedIds: response.trace.retrieved.map((memory) => memory.memoryId),
        keptIds: kept,
        shown: response.memoriesUsed
          .filter((memory) => shown.some((segment) => segment.memoryId === memory.memoryId))
          .map((memory) => ({
            memoryId: memory.memoryId,
            content: memory.content,
            value: memory.metadata['value'] as string | undefined,
            relation: memory.metadata['relation'] as string | undefined,
          })),
      },
      profileOf(item.language, this.#user.languageProfile),
      this.#bench.success,
    );
  }
}

/** The memories that an arm may show, by its own rule. */
function givenTo(
  { gated, readsSummary, traits }: Arm,
  { retrieved, preferences = [] }: ChatRequest,
  { trace }: ChatResponse,
): readonly MemorySearchResult[] {
  if (retrieved === undefined || (gated && trace.gating?.['inject'] === false)) return [];
  if (readsSummary) return retrieved.summary?.records ?? retrieved.memories;
  if (traits.injects !== 'preferences') return retrieved.memories;
  return [...preferences, ...retrieved.memories.filter((memory) => !isPreference(memory))];
}

/** The error of a failed turn. @throws what ends the run: the reason of the signal, and want of a place to write to */
function failureOf(error: unknown, signal: AbortSignal): unknown {
  signal.throwIfAborted();
  // No later turn could be kept either: the run ends, and can be resumed.
  if (error instanceof BenchError && (error.code === 'disk' || error.code === 'database')) throw error;
  return error;
}
