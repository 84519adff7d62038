import { randomUUID } from 'node:crypto';
import type { BenchConfig } from '../../config/bench-config.ts';
import { BenchError, didYouMean } from '../../base/bench-error.ts';
import { TemporaryFolder } from '../../base/temporary-folder.ts';
import { readGatingCalibration, requireCalibrationFor } from '../../models/embedding/gating-calibration.ts';
import type { EngineOpener } from '../../engine/engine-adapter.ts';
import { runnableArms } from '../../eval/run/plan/runnable-arms.ts';
import { type LoadedModels, loadModels } from '../../eval/run/loaded-models.ts';
import { openRunRetriever } from '../../eval/run/open-run-retriever.ts';
import { openRunDatabase } from '../../eval/run/open-run-resources.ts';
import { systemParts } from '../../eval/run/system-parts-from-options.ts';
import { KvFolder } from '../../eval/run/kv-folder.ts';
import { withTurnState } from '../../eval/run/observe/likelihood-scorer.ts';
import { firstDifference, hashIds, likeliestTexts } from '../../eval/run/observe/post-turn-measurements.ts';
import { answeredTurn } from '../../eval/run/observe/write-turns.ts';
import { type DisplayTurn, turnForDisplay } from '../../viewer/turn-scores-for-display.ts';
import type { TurnObservation } from '../../store/records/turn-observation.ts';
import { scores } from '../../store/records/turn-record.ts';
import type { Arm } from '../../systems/arms/arm-registry.ts';
import type { BenchSystem, ChatRequest, ChatResponse } from '../../systems/memory-system.ts';
import { ConversationLog } from '../../systems/conversation-log.ts';
import { MemoryKeeper } from '../../systems/memory-keeper.ts';
import { WHOLE_PROMPT } from '../../systems/prefill/cached-text-prefill.ts';
import { reserveFor } from '../../systems/prompt/build-prompt.ts';
import { chatArm } from '../arm-help.ts';
import { chatSessionId, UserMemories } from './user-memories.ts';

export interface ChatSetup {
  readonly arm: string;
  readonly userId: string;
  /** Name of the conversation to start or continue. Default: a new one. */
  readonly conversation?: string;
}

interface ChatTurn {
  readonly userId: string;
  readonly arm: string;
  /** From 0. */
  readonly number: number;
  readonly response: ChatResponse;
  readonly memories: number;
}

/** A chat of one user with one arm at a time. The memories of the user persist between chats. */
export class ChatSession implements AsyncDisposable {
  readonly userId: string;
  /** The id under which its messages are stored. */
  readonly sessionId: string;
  readonly #config: BenchConfig;
  readonly #parts: ChatParts;
  #arm: Arm;
  #system: BenchSystem;
  #turns = 0;
  /** The last turn, and its form for the inspector once that is computed. */
  #last: { readonly turn: ChatTurn; shown?: DisplayTurn } | undefined;

  private constructor(config: BenchConfig, setup: ChatSetup, arm: Arm, parts: ChatParts) {
    this.#config = config;
    this.userId = setup.userId;
    this.sessionId = chatSessionId(setup.userId, setup.conversation ?? new Date().toISOString());
    this.#parts = parts;
    this.#arm = arm;
    this.#system = this.#open(arm);
  }

  /** @throws BenchError for an arm that cannot chat, and if a model or the database cannot be opened */
  static async open(config: BenchConfig, setup: ChatSetup, engines: EngineOpener): Promise<ChatSession> {
    const arm = chatArm(setup.arm, config);
    return new ChatSession(config, setup, arm, await openParts(config, setup.userId, arm, engines));
  }

  get arm(): string {
    return this.#arm.traits.name;
  }

  /** The memories of the user, as the user's other chats have left them. */
  async memories(): Promise<UserMemories> {
    await this.#refresh();
    return this.#parts.memories;
  }

  /** Answers one turn, and stores it as messages and an entry of the audit log. @throws BenchError `context-overflow` */
  async ask(query: string, hooks: Pick<ChatRequest, 'signal' | 'onText'> = {}): Promise<ChatResponse> {
    const { userId, sessionId } = this;
    // A turn that fails may have overwritten the previous turn's KV in the engine session.
    this.#last = undefined;
    const memories = await this.memories();
    const response = await this.#system.chat({ query, sessionId, userId, ...hooks });
    const turn = { userId, arm: this.arm, number: this.#turns++, response, memories: memories.list().length };
    this.#last = { turn };
    return response;
  }

  /** The last turn, for the inspector. Undefined if there was none, if it failed, or if a memory that it used was deleted since. */
  async lastTurn(): Promise<DisplayTurn | undefined> {
    await this.#refresh();
    const last = this.#last;
    if (last === undefined) return undefined;
    last.shown ??= chatTurnForDisplay(last.turn, await this.#nextTokens(last.turn.response));
    return last.shown;
  }

  /** Switches to another arm with the same memories and conversation. @throws BenchError for one that cannot chat */
  async switchArm(name: string): Promise<void> {
    const arm = chatArm(name, this.#config);
    runnableArms(this.#parts.inspection, [arm], this.#config, false);
    await requireCalibration(arm, this.#parts.bench, this.#config);
    // Computed now: the next arm uses the same engine session, which holds the last turn's KV.
    await this.lastTurn();
    await this.#system[Symbol.asyncDispose]();
    this.#arm = arm;
    this.#system = this.#open(arm);
  }

  /**
   * Deletes a memory of the user. First it deletes the turns, in all of the user's conversations, that used the memory or repeat its
   * text, and all KV that contains it, of every arm and on every tier; then the memory itself.
   * @returns the numbers of messages and of entries of KV that were deleted @throws BenchError `not-found`
   */
  async forget(memoryId: string): Promise<{ readonly messages: number; readonly kvEntries: number }> {
    const memories = await this.memories();
    const stored = memories.list();
    const known = stored.map((memory) => memory.memoryId);
    const memory = stored.find((candidate) => candidate.memoryId === memoryId);
    if (memory === undefined) {
      const hint = known.length === 0 ? 'this user has no memories' : 'see them all: /memories';
      throw new BenchError('not-found', `there is no memory "${memoryId}"${didYouMean(memoryId, known)}`, hint);
    }
    const messages = this.#parts.log.forget(this.userId, memory);
    if (messages > 0) this.#last = undefined;
    const kvEntries = await this.#dropKv(memoryId);
    await memories.remove(memoryId, kvEntries);
    return { messages, kvEntries };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#system[Symbol.asyncDispose]();
    } finally {
      await closeAll(this.#parts.closers);
    }
  }

  /** The likeliest tokens at the beginning of an answer, from the KV that the turn left in the session. */
  async #nextTokens({ trace }: ChatResponse): Promise<TurnObservation['nextTokens']> {
    const { bench, session, scoring } = this.#parts;
    const { engine } = bench;
    const { prefixPositions: end, suffix } = trace;
    if (end === 0) await scoring.clear();
    const score = () => scoring.score(suffix, []);
    const { next } = await (end === 0 ? score() : withTurnState({ engine, scoring }, { session, end }, {}, score));
    return likeliestTexts(engine, next);
  }

  /** Deletes the KV of a memory in all arms, and of whole prompts, which may repeat it. @returns the number of deleted entries */
  async #dropKv(memoryId: string): Promise<number> {
    const { stores, bench } = this.#parts;
    let entries = 0;
    for (const id of [memoryId, WHOLE_PROMPT]) {
      entries += await this.#system.forgetMemory(this.userId, id);
      entries += await stores.forgetMemory(this.userId, id, bench.engine);
    }
    const retrieved = this.#last?.turn.response.trace.retrieved;
    if (retrieved?.some((memory) => memory.memoryId === memoryId)) this.#last = undefined;
    return entries;
  }

  /** Takes over what other chats of the user have added and forgotten. */
  async #refresh(): Promise<void> {
    const { memories, log } = this.#parts;
    await memories.refresh((memoryId) => {
      // A turn that ran meanwhile may have used it.
      log.forget(this.userId, { memoryId, content: '' });
      return this.#dropKv(memoryId);
    });
  }

  #open(arm: Arm): BenchSystem {
    const { bench, session, keeper, log, stores } = this.#parts;
    const parts = systemParts(bench, session, this.#config, keeper);
    return arm.open({ ...parts, log, openStore: stores.opener(arm.traits.name) });
  }
}

type ChatParts = Awaited<ReturnType<typeof openParts>>;

async function openParts(config: BenchConfig, userId: string, arm: Arm, engines: EngineOpener) {
  const inspection = await engines.inspect(config.model, config.contextTokens);
  runnableArms(inspection, [arm], config, false);
  /** Closers of what was opened so far, in order of opening. */
  const closers: (() => unknown)[] = [];
  try {
    const folder = new TemporaryFolder();
    closers.push(() => folder[Symbol.dispose]());
    const stores = new KvFolder(config, folder.path);
    const bench = await loadModels(engines, config, { arms: [arm], checkpointFolder: stores.checkpointFolder });
    const { engine, embeddings } = bench;
    closers.push(() => engine[Symbol.asyncDispose]());
    reserveFor(engine.info.contextTokens, config.reserve);
    await requireCalibration(arm, bench, config);
    const database = openRunDatabase(config);
    closers.push(() => database.close());
    const scope = chatSessionId(userId);
    // Another chat, perhaps of another database, may use the same servers.
    const retriever = await openRunRetriever(bench, config, `${scope}/${randomUUID()}`, folder.path);
    closers.push(() => retriever.close());
    const keeper = new MemoryKeeper({ retriever, embeddings, database });
    const memories = new UserMemories(database, keeper, userId, (await embeddings.info()).sha256);
    await memories.load();
    /** All arms answer in this session, one at a time. */
    const session = await engine.openSession(scope);
    /** For scoring the next tokens of the last turn, when it is shown. */
    const scoring = await engine.openSession(`${scope}/probe`);
    const log = new ConversationLog(database);
    return { inspection, bench, session, scoring, stores, keeper, log, memories, closers };
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

/** @throws BenchError `bad-model` if the threshold of the arm's gate belongs to another embedder */
async function requireCalibration(
  { gated }: Arm,
  { embeddings }: LoadedModels,
  { embedder }: BenchConfig,
): Promise<void> {
  const calibration = gated ? readGatingCalibration(embedder) : undefined;
  if (calibration !== undefined) requireCalibrationFor(calibration, await embeddings.info());
}

async function closeAll(closers: readonly (() => unknown)[]): Promise<void> {
  for (const close of closers.toReversed()) await close();
}

const noScores = scores.parse({
  ...Object.fromEntries(Object.keys(scores.unwrap().shape).map((name) => [name, null])),
  own: {},
  passedStages: [],
});

/**
 * Converts a turn of a chat to the form in which the inspector shows turns of a run. It is not stored, since stored turns count in
 * the tables of a run. Fields that need a data set or other arms are null.
 * @param nextTokens the likeliest tokens at the beginning of the answer
 */
function chatTurnForDisplay(
  { userId, arm, number, response, memories }: ChatTurn,
  nextTokens: TurnObservation['nextTokens'],
): DisplayTurn {
  const { promptInfo, trace } = response;
  const injected = promptInfo.segments.filter(({ origin }) => origin === 'injected');
  const promptIds = promptInfo.segments.flatMap(({ tokenIds }) => tokenIds);
  const itemId = `chat-${number + 1}`;
  const item = {
    query: promptInfo.originalQuery,
    gold: null,
    acceptedAnswers: [],
    relation: null,
    answerPrefix: null,
    category: 'chat',
    phrasing: '',
    userKind: '',
    language: 'en',
    memories,
    evidence: 0,
    evidencePlace: null,
    condition: null,
  };
  const observed = {
    injectableMemories: injected.filter(({ memoryId }) => memoryId !== undefined).length,
    injectableTokens: injected.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
    sequenceSha256: hashIds(trace.sessionTokens),
    sequenceTokens: trace.sessionTokens.length,
    firstForeignToken: firstDifference(promptIds, trace.sessionTokens),
    goldLogProbability: null,
    goldTokens: [],
    parity: null,
    freeLogProbability: null,
    agreement: null,
    goldKl: null,
    closed: false,
    nextTokens,
  };
  const key = { itemId, userId, arm, repeat: 0, turn: number, position: 0 };
  const turn = answeredTurn(key, item, [], { response, observed, scores: noScores });
  return turnForDisplay(turn, 'a chat has no right answer to compare with');
}
