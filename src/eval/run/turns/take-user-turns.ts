import { BenchError } from '../../../base/bench-error.ts';
import { SeededRandom } from '../../../base/seeded-random.ts';
import { type DatasetItem, type DatasetMemory, type DatasetUser, resolveUserLanguage } from '../../../data/dataset.ts';
import type { MemorySearchResult } from '../../../retrieval/retriever.ts';
import type { HistoryMessage } from '../../../store/records/prompt-info.ts';
import type { Scores } from '../../../store/records/turn-record.ts';
import type { Arm } from '../../../systems/arms/arm-registry.ts';
import { memoriesForArm, type MemorySources } from '../../../systems/memories-for-arm.ts';
import { type ChatRequest, type ChatResponse, nothingRetrieved } from '../../../systems/memory-system.ts';
import { systemTokens } from '../../../systems/prompt/build-prompt.ts';
import { isPreference } from '../../../systems/prompt/memory-lines.ts';
import { scoreTurn } from '../../analysis/metrics/score-turn.ts';
import { promptFacts } from '../../analysis/prompt-token-and-memory-counts.ts';
import { itemQuestion, memoryEntry } from '../data-to-system-input.ts';
import { controlMemories } from './negative-control-memories.ts';
import { type AnsweredInSession, PostTurnMeasurements } from '../observe/post-turn-measurements.ts';
import type { OpenArm, RunBench } from '../open-run-resources.ts';
import { type PlanUser, rotationPlace, takesItem } from '../plan/plan-users.ts';
import type { TurnProver } from '../prove/turn-prover.ts';
import { ExpectedMemoryOrder, type ExpectedPrefixReuse, expectedPrefixReuse } from './expected-order-and-reuse.ts';
import { measuredResponse, type RecordedRetrieval } from '../observe/turn-recorder.ts';
import type { WarmTurn, WarmUp } from '../plan/run-estimate.ts';
import { turnSessionId, type TurnOutcome, writeTurns } from '../observe/write-turns.ts';
import { indexChanges, visibleMemories } from '../../../data/visible-memories.ts';

/** A run ends, and can be resumed, after so many turns in a row in which the engine could not be reached. */
const MAX_UNREACHED = 2;
/** A shorter warm-up is done twice, and the second round is measured. */
const SECOND_ROUND_BELOW_MS = 4000;

/** An item prepared for all arms. Memories are retrieved once, from those that the user had at the time. */
interface PreparedItem {
  readonly item: DatasetItem;
  readonly question: ReturnType<typeof itemQuestion>;
  readonly visible: readonly DatasetMemory[];
  readonly sources: MemorySources;
  readonly recordedRetrieval: RecordedRetrieval | undefined;
  readonly observer: PostTurnMeasurements;
}

/** Takes the turns of one user: retrieves once per item, prompts every arm in rotated order, and writes each turn. */
export class UserTurns {
  readonly #bench: RunBench;
  readonly #user: DatasetUser;
  readonly #planned: PlanUser;
  #indexed: ReadonlySet<string> = new Set();
  /** Messages so far of conversations over several items, by session. */
  readonly #conversations = new Map<string, readonly HistoryMessage[]>();
  readonly #prompts: ExpectedPrefixReuse;
  readonly #order = new ExpectedMemoryOrder();
  #unreached = 0;

  constructor(bench: RunBench, planned: PlanUser) {
    this.#bench = bench;
    this.#user = planned.user;
    this.#planned = planned;
    this.#prompts = expectedPrefixReuse(bench.engine.capabilities);
  }

  /** @param onTurn called after every turn @throws the reason of `signal`; finished items are stored */
  async run(prover: TurnProver, onTurn: () => void, signal: AbortSignal): Promise<void> {
    const { arms, clock, controls, embeddings, keeper, settings, sharedBlocks, sharesStore } = this.#bench;
    const { repeats } = settings;
    const { items } = this.#user;
    for (let repeat = 0; repeat < repeats; repeat++) {
      // A repeat is the same experiment again: it must find no state of the previous one.
      embeddings.clear();
      await keeper.reset();
      this.#order.clear();
      for (const { retrievals } of arms) retrievals.clear();
      sharedBlocks.clear();
      if (!sharesStore) {
        this.#prompts.clear();
        for (const { system, recorder } of arms) await recorder.declared(() => system.reset());
      }
      for (const item of items) {
        const prepared = await clock.time('turns', () => this.#prepare(item, signal), 'prepared');
        const place = rotationPlace(this.#planned, item, repeat, { repeats, controls });
        const taken: (() => Promise<TurnOutcome>)[] = [];
        const taking = arms.filter((open) => takesItem(open.arm.traits, item, controls));
        for (const open of armOrder(taking, settings.seed, place)) {
          signal.throwIfAborted();
          taken.push(await this.#takeTurn(prepared, open, { repeat, prover }, signal));
          onTurn();
        }
        // Observations that compare with other arms need the answers of all.
        const outcomes: TurnOutcome[] = [];
        for (const complete of taken) outcomes.push(await complete());
        const written = { user: this.#user, item, memories: prepared.visible, repeat };
        await clock.time('turns', () => writeTurns(this.#bench, written, outcomes));
      }
      this.#conversations.clear();
    }
  }

  /** Takes one turn of every arm on an item, observed but not stored, which warms up the caches of the machine. */
  async warmUp(item: DatasetItem, signal: AbortSignal, onArm?: (done: number) => void): Promise<WarmUp> {
    const start = performance.now();
    const warm = await this.#warmUpOnce(item, signal, onArm);
    // The first round of a fast model is much slower than later ones.
    return performance.now() - start < SECOND_ROUND_BELOW_MS ? await this.#warmUpOnce(item, signal) : warm;
  }

  async #warmUpOnce(item: DatasetItem, signal: AbortSignal, onArm?: (done: number) => void): Promise<WarmUp> {
    const { arms, sharesStore } = this.#bench;
    const prepared = await this.#prepare(item, signal);
    const turns: WarmTurn[] = [];
    for (const open of arms) {
      const start = performance.now();
      // As a separate user, so that no turn finds its KV. KV files belong to the user, and no turn changes them.
      const userId = open.arm.traits.external === true ? this.#user.userId : 'warm-up';
      const session = { sessionId: 'warm-up', userId, history: item.history };
      const request = { ...prepared.question, ...session, ...memoriesForArm(open.arm.traits, prepared.sources) };
      const turn = await this.#answer(request, open, prepared, signal);
      const answered = performance.now();
      await prepared.observer.observe(open.arm.traits, turn, { signal });
      turns.push({ traits: open.arm.traits, turnMs: answered - start, scoringMs: performance.now() - answered });
      await open.recorder.declared(async () => {
        if (!sharesStore) await open.system.reset();
        else for (const { memoryId } of prepared.visible) await open.system.forgetMemory(userId, memoryId);
      });
      onArm?.(turns.length);
    }
    this.#prompts.clear();
    this.#order.clear();
    return { user: this.#user, item, turns };
  }

  async #prepare(item: DatasetItem, signal: AbortSignal): Promise<PreparedItem> {
    const { arms, controlUsers, keeper, settings } = this.#bench;
    const { userId, languageProfile } = this.#user;
    const profile = resolveUserLanguage(item.language, languageProfile);
    const visible = visibleMemories(this.#user, item);
    await this.#index(visible);
    const question = itemQuestion(item, this.#user);
    for (const { system, recorder } of arms) {
      await recorder.preparation(async () => system.prepare?.(userId, visible, { ...question, signal }));
    }
    const { topK, threshold, seed } = settings;
    const { history, passages } = item;
    const start = performance.now();
    const options = { userId, topK, threshold, now: new Date(item.askedAt), history, passages };
    const found = await keeper.retrieve(item.query, options);
    const retrieved = { ...found, elapsedMs: performance.now() - start };
    const { last: recordedRetrieval } = this.#bench.retrievals;
    const all = visible.map((memory): MemorySearchResult => ({ ...memoryEntry(memory), score: 1 }));
    // Matched by id, with the texts of the data set: the database may hold hashes in place of texts.
    const preferred = new Set(keeper.preferences(userId).map(({ memoryId }) => memoryId));
    const sources: MemorySources = {
      retrieved,
      all,
      preferences: all.filter(({ memoryId }) => preferred.has(memoryId)),
      evidence: all.filter(({ memoryId }) => item.evidence.includes(memoryId)),
      donated: controlMemories(retrieved.memories, this.#user, item, { users: controlUsers, seed }),
    };
    const observer = new PostTurnMeasurements(this.#bench, item, profile);
    return { item, question, visible, sources, recordedRetrieval, observer };
  }

  async #index(visible: readonly DatasetMemory[]): Promise<void> {
    const { keeper, runId } = this.#bench;
    const { userId } = this.#user;
    const sessionId = `${runId}/${userId}`;
    const { removed, added } = indexChanges(this.#indexed, visible);
    for (const memoryId of removed) await keeper.remove(sessionId, memoryId, userId);
    if (added.length > 0) await keeper.addAll(sessionId, userId, added.map(memoryEntry));
    this.#indexed = new Set(visible.map(({ memoryId }) => memoryId));
  }

  /** Takes one turn. @returns a function that completes it, to be called when all arms have answered the item */
  async #takeTurn(
    prepared: PreparedItem,
    open: OpenArm,
    { repeat, prover }: { readonly repeat: number; readonly prover: TurnProver },
    signal: AbortSignal,
  ): Promise<() => Promise<TurnOutcome>> {
    const { item, question, sources, visible, observer } = prepared;
    const { arm } = open;
    const { clock, runId } = this.#bench;
    const sessionId = turnSessionId(runId, item, arm, repeat);
    const history = [...(this.#conversations.get(sessionId) ?? []), ...item.history];
    const session = { sessionId, userId: this.#user.userId, history };
    const request: ChatRequest = { ...question, ...session, ...memoriesForArm(arm.traits, sources) };
    try {
      const turn = await clock.time('turns', () => this.#answer(request, open, prepared, signal));
      const { response } = turn;
      await clock.time('scoring', () => observer.observe(arm.traits, turn, { signal }));
      const proof = await clock.time('checks', () => prover.prove(arm.traits, { item, repeat }, turn, { signal }));
      if (item.conversation !== undefined) {
        const question: HistoryMessage = { role: 'user', content: item.query };
        this.#conversations.set(sessionId, [...history, question, { role: 'assistant', content: response.text }]);
      }
      this.#unreached = 0;
      const scores = this.#score(item, visible, response);
      return async () => {
        try {
          const observed = await clock.time('scoring', () => observer.complete(arm.traits, { signal }));
          return { arm, request, response, scores, observed: { ...observed, ...proof } };
        } catch (error) {
          return { arm, error: turnError(error, signal) };
        }
      };
    } catch (error) {
      const isUnreached = error instanceof BenchError && error.code === 'unreachable';
      this.#unreached = isUnreached ? this.#unreached + 1 : 0;
      // One lost answer is a failed turn; a server that is gone will not answer later turns either.
      if (this.#unreached === MAX_UNREACHED) throw error;
      const failed = { arm, error: turnError(error, signal) };
      return () => Promise.resolve(failed);
    }
  }

  async #answer(
    request: ChatRequest,
    open: OpenArm,
    { item, visible, recordedRetrieval }: PreparedItem,
    signal: AbortSignal,
  ): Promise<AnsweredInSession> {
    const { arm, system, session, recorder } = open;
    const turn = `${request.sessionId} ${item.itemId}`;
    const order = this.#order.next(arm.traits, givenMemories(arm, request));
    const { value, recorded } = await recorder.turn(() => system.chat({ ...request, signal }), turn);
    // An aborted answer is not a turn.
    signal.throwIfAborted();
    const response = measuredResponse(value, recorded, request.retrieved?.elapsedMs ?? 0);
    const sharedTokens = arm.requires.includes('promptCache') ? this.#sharedTokens(arm, response) : undefined;
    return {
      session,
      response,
      recorded,
      recordedRetrieval,
      sharedTokens,
      memories: { visible, memories: allowedMemories(arm, request, response), order },
    };
  }

  /** Tokens that the prompt shares with the user's earlier ones; what was found, if other users may have left it. */
  #sharedTokens({ traits }: Arm, response: ChatResponse): number {
    const { inputTokens, promptInfo, tokens, trace } = response;
    const { prefixTokens } = promptFacts(promptInfo, trace.retrieved.length);
    const own = this.#prompts.reusedTokens(traits, trace.sessionTokens, prefixTokens);
    if (!this.#bench.sharesStore || traits.shares === undefined) return own;
    const found = inputTokens - tokens.evaluated;
    const shareable = traits.shares === 'all' ? inputTokens : systemTokens(promptInfo.segments);
    return found > own && found <= shareable ? found : own;
  }

  #score(item: DatasetItem, visible: readonly DatasetMemory[], response: ChatResponse): Scores {
    const { memoriesUsed, promptInfo, trace } = response;
    const shownIds = new Set(promptInfo.segments.flatMap(({ memoryId }) => memoryId ?? []));
    const shown = memoriesUsed
      .filter(({ memoryId }) => shownIds.has(memoryId))
      .map(({ memoryId, content, metadata }) => {
        const { value, relation } = metadata as { readonly value?: string; readonly relation?: string };
        return { memoryId, content, value, relation };
      });
    const ids = (memories: readonly { readonly memoryId: string }[]) => memories.map(({ memoryId }) => memoryId);
    const { text: answer } = trace.answer;
    const given = { storedIds: ids(visible), retrievedIds: ids(trace.retrieved), keptIds: ids(memoriesUsed) };
    const profile = resolveUserLanguage(item.language, this.#user.languageProfile);
    return scoreTurn(item, { answer, ...given, shown }, profile, this.#bench.success);
  }
}

/**
 * The order of arms for a turn: a seeded shuffle in a Williams design, rotated from item to item. Each arm stands equally
 * often in each place and behind each other arm; for an odd number of arms, every other round is mirrored.
 * @see Williams 1949, on designs balanced for residual effects
 */
export function armOrder<T>(arms: readonly T[], seed: number, turn: number): T[] {
  const shuffled = new SeededRandom(seed).shuffled(arms);
  const count = shuffled.length;
  const order = shuffled.map((_, place) => {
    const step = place % 2 === 0 ? place / 2 : count - (place + 1) / 2;
    return shuffled[(step + turn) % count]!;
  });
  return count % 2 === 1 && Math.floor(turn / count) % 2 === 1 ? order.reverse() : order;
}

/** The memories of a request, best first. */
function givenMemories(
  { traits }: Arm,
  { retrieved: { memories } = nothingRetrieved, preferences = [] }: ChatRequest,
): readonly MemorySearchResult[] {
  if (traits.injects !== 'preferences') return memories;
  return [...preferences, ...memories.filter((memory) => !isPreference(memory))];
}

function allowedMemories(arm: Arm, request: ChatRequest, { trace }: ChatResponse): readonly MemorySearchResult[] {
  if (arm.gated && trace.gating?.['inject'] === false) return [];
  const records = arm.readsSummary ? request.retrieved?.summary?.records : undefined;
  return records ?? givenMemories(arm, request);
}

/** The error of a failed turn. @throws what ends the run: the reason of the signal, errors of disk and database */
function turnError(error: unknown, signal: AbortSignal): unknown {
  signal.throwIfAborted();
  // No later turn could be stored either: the run ends, and can be resumed.
  if (error instanceof BenchError && (error.code === 'disk' || error.code === 'database')) throw error;
  return error;
}
