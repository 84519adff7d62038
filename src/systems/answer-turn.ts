import { BenchError } from '../base/bench-error.ts';
import type { EngineSession, Generation, GenerationLimits } from '../engine/engine-session.ts';
import { meterDifference, type TokenMeter } from '../engine/token-meter.ts';
import type { PrefillRecord } from '../store/records/prefill-record.ts';
import type { PromptSegment } from '../store/records/prompt-info.ts';
import {
  type AnswerRecord,
  selectorTokens,
  type Timings,
  type TokenCounts,
  type TurnAccount,
} from '../store/records/turn-record.ts';
import type { ChatRequest, ChatResponse, RetrievedMemories, TurnTrace } from './memory-system.ts';
import type { ConversationLog, LoggedAction } from './conversation-log.ts';
import type { GateDecision, TurnGate } from './prefill/dual-factor-gate.ts';
import { WHOLE_PROMPT } from './prefill/cached-text-prefill.ts';
import type { ComputeBlock, Prefilled, PrefillStrategy } from './prefill/prefill-strategy.ts';
import { buildPrompt, type BuiltPrompt, type PromptParts, type PromptRules, turnTexts } from './prompt/build-prompt.ts';
import { chooseAnswerPrefix, noAnswerPrefix, withPrefix, type PromptForm } from './prompt/prompt-form.ts';
import { PromptTokenizer } from './prompt/prompt-tokenizer.ts';
import type { Engine } from '../engine/engine.ts';
import type { KvOperations } from '../kv/kv-operations.ts';
import { type MemoryKeeper, type RetrievalSettings, retrieveForTurn } from './memory-keeper.ts';
import type { RetrievalCounts } from './retrieval-counts.ts';

/** An engine, and the session that a system answers in. */
export interface OpenEngine {
  readonly engine: Engine;
  readonly session: EngineSession;
}

/** Parts that all systems share, so that systems differ only in retrieval and prefill strategy. */
export interface SystemParts {
  /** Called at the first turn, so that retrieval works without a model. The caller closes engine and session. */
  readonly open: () => Promise<OpenEngine>;
  readonly memories: MemoryKeeper;
  /** Default: the functions of the KV layer. */
  readonly kv?: KvOperations;
  /** Null: turns are not logged. */
  readonly log: ConversationLog | null;
  readonly rules: Omit<PromptRules, 'windowTokens'>;
  /** Computes blocks that other systems may have computed before. Default: this system's own are computed. */
  readonly computeBlock?: ComputeBlock;
  /** Folder of KV files made elsewhere, for `dki-external`. Default: none. */
  readonly externalKv?: string;
  readonly topK: number;
  /** Memories that score lower are not retrieved; −1 retrieves all. */
  readonly threshold: number;
  /** Counts for the placement `stable`. Default: the system's own, empty at first. A pool's systems share them. */
  readonly retrievals?: RetrievalCounts;
  /** Receives warnings, such as "kept 20/50 history messages". */
  readonly warn: (message: string) => void;
}

/** All parts of one system: the shared ones, and those in which systems differ. */
export interface TurnParts extends SystemParts, RetrievalSettings {
  readonly retrievals: RetrievalCounts;
  readonly openStrategy: (opened: OpenEngine) => Promise<PrefillStrategy>;
  /** All memories start at the same position, so they may fill all remaining cells of the context. */
  readonly fillsCells?: boolean;
  /** Multiplies the values of injected memories. Default 1. */
  readonly alpha?: number;
  /** Decides before the prompt is built whether memories go into it. Default: always. */
  readonly gate?: TurnGate;
  readonly injectionMode: string;
  readonly action: LoggedAction;
}

export interface OpenTurn extends OpenEngine {
  readonly form: PromptForm;
  readonly strategy: PrefillStrategy;
}

export type Ahead = NonNullable<TurnAccount['ahead']>;

const DEFAULT_NEW_TOKENS = 48;

type Phase = 'assemble' | 'uncounted' | 'gate' | 'answer' | 'keep';

/** A stopwatch that splits a turn into phases, in ms. */
class PhaseClock {
  readonly ms: Record<Phase, number> = { assemble: 0, uncounted: 0, gate: 0, answer: 0, keep: 0 };
  #last = performance.now();

  end(phase: Phase): void {
    const now = performance.now();
    this.ms[phase] += now - this.#last;
    this.#last = now;
  }
}

/** Runs one turn: retrieve → gate → build the prompt → prefill → generate → store KV → log. */
export async function answerTurn(
  { engine, session, form, strategy }: OpenTurn,
  parts: TurnParts,
  request: ChatRequest,
  ahead: Ahead | undefined,
): Promise<ChatResponse> {
  const clock = new PhaseClock();
  const { query, userId = '', maxHistoryTurns: historyTurns, signal } = request;
  const history = turnHistory(request, parts);
  clock.end('assemble');
  const retrieved = await retrieveForTurn(request, parts, history);
  const stableOrder = countRetrieval(parts, userId, retrieved);
  await forgetOutdated(retrieved.outdated, strategy, parts, userId);
  const meterBefore = await session.meter();
  const rules = turnRules(parts, engine);
  const answerPrefix = chooseAnswerPrefix(rules.answerPrefix ?? noAnswerPrefix, request.answerPrefix, request);
  const frame = { query, ...turnTexts(request, rules), historyTurns, answerPrefix, ...stableOrder };
  // A new tokenizer per turn, so that each turn's time includes tokenising its prompt.
  const tokenizer = new PromptTokenizer(engine);
  const build = (content: Pick<PromptParts, 'memories' | 'history'>): Promise<BuiltPrompt> =>
    buildPrompt({ ...frame, ...content }, rules, tokenizer, form);
  // Not counted here: retrieval reports its own time, since it may have run before the turn.
  clock.end('uncounted');
  const bareTokens = async () => (await build({ memories: [], history: [] })).tokenIds;
  const gated = await parts.gate?.(session, retrieved.memories, bareTokens, { signal });
  if (gated !== undefined) clock.end('gate');
  const memories = gated?.inject === false ? [] : shownMemories(retrieved, rules, query);
  const prompt = withReserveWarning(await build({ memories, history }), request.maxNewTokens);
  prompt.info.budget.warnings.forEach((warning) => parts.warn(warning));
  clock.end('assemble');
  try {
    const prefilled = await strategy.prefill(prompt, { session, userId, alpha: scale(parts, gated), signal });
    const prefixPositions = session.tokens.length;
    const limits = answerLimits(form, prompt.info.budget.reserveTokens, { ...request, answerPrefix });
    const generation = await session.generate(prefilled.suffix, limits, { signal });
    const sessionTokens = session.tokens.slice(0, countCells(prefilled, prompt));
    clock.end('answer');
    const record = await storeKv(prefilled);
    if (prefilled.keep !== undefined) clock.end('keep');
    const metered = meterDifference(await session.meter(), meterBefore);
    const account = turnAccount(prefilled, prompt, gated, ahead);
    const timings = turnTimings(retrieved.elapsedMs, clock.ms, prefilled, generation);
    const tokens = countTokens(prompt, account, metered, generation);
    const trace: TurnTrace = {
      retrieved: retrieved.memories,
      retrieval: retrieved.record,
      ...(retrieved.summary === undefined ? {} : { summary: retrieved.summary.text }),
      prefill: record,
      account,
      gating: gated?.details ?? null,
      suffix: prefilled.suffix,
      opening: answerOpening(form, answerPrefix, prompt),
      prefixPositions,
      sessionTokens,
      answer: answerRecord(generation, answerPrefix),
    };
    const response: ChatResponse = {
      text: withPrefix(answerPrefix, generation.text),
      memoriesUsed: prompt.memories,
      latencyMs: timings.total,
      inputTokens: prompt.tokenIds.length,
      outputTokens: tokens.generated,
      metadata: { injectionMode: parts.injectionMode },
      promptInfo: { ...prompt.info, segments: withOrigins(prompt, prefilled) },
      timings,
      tokens,
      trace,
    };
    parts.log?.record(request, response, parts.action);
    return response;
  } finally {
    // A turn that fails may have stored KV, too.
    await forgetInTurn(request, { prompt, retrieved }, strategy, parts);
  }
}

function turnHistory({ includeHistory, history, sessionId, userId }: ChatRequest, { log }: TurnParts) {
  log?.requireOwned(sessionId, userId);
  return includeHistory === false ? [] : (history ?? log?.history(sessionId) ?? []);
}

function turnRules({ rules, fillsCells }: TurnParts, { info }: OpenEngine['engine']): PromptRules {
  const { contextTokens, cellTokens } = info;
  return { ...rules, windowTokens: contextTokens, ...(fillsCells === true ? { cellTokens } : {}) };
}

function scale({ alpha = 1 }: TurnParts, gated: GateDecision | undefined): number {
  return alpha * (gated?.alpha ?? 1);
}

/** Stores KV and returns the prefill record. Its size in bytes is known only now. */
async function storeKv({ record, keep }: Prefilled): Promise<PrefillRecord | null> {
  const sizeBytes = await keep?.();
  return record === null || sizeBytes === undefined ? record : { ...record, sizeBytes };
}

/** With placement `stable`, counts the retrieved memories and returns their order. */
function countRetrieval({ rules, retrievals }: TurnParts, userId: string, { memories }: RetrievedMemories) {
  return rules.placement === 'stable' ? { stableOrder: retrievals.count(userId, memories) } : {};
}

/** Deletes the KV of memories that another process has removed or replaced. */
async function forgetOutdated(
  outdated: RetrievedMemories['outdated'],
  strategy: PrefillStrategy,
  { retrievals }: TurnParts,
  userId: string,
): Promise<void> {
  if (outdated === undefined || outdated.length === 0) return;
  for (const memoryId of outdated) {
    retrievals.forget(userId, memoryId);
    await strategy.forget(userId, memoryId);
  }
  // A history may quote a memory that is not in the prompt.
  await strategy.forget(userId, WHOLE_PROMPT);
}

/** Deletes what a turn stored of memories that another process has removed or replaced by now; later, it does so itself. */
async function forgetInTurn(
  { userId, retrieved: given }: ChatRequest,
  { prompt, retrieved }: { readonly prompt: BuiltPrompt; readonly retrieved: RetrievedMemories },
  strategy: PrefillStrategy,
  parts: TurnParts,
): Promise<void> {
  if (given !== undefined) return;
  // As retrieved: an arm may show them in other words.
  const shown = new Set(prompt.memories.map(({ memoryId }) => memoryId));
  const memories = retrieved.memories.filter(({ memoryId }) => shown.has(memoryId));
  const { removed, replaced } = parts.memories.changedByOthers(userId, memories);
  await forgetOutdated([...removed, ...replaced], strategy, parts, userId ?? '');
  for (const memory of memories) if (removed.includes(memory.memoryId)) parts.log?.forget(userId, memory);
}

function turnTimings(
  retrieve: number,
  { gate, assemble, answer, keep }: PhaseClock['ms'],
  { kvLoadMs, kvComputeMs }: Prefilled,
  { firstTokenMs, decodeMs }: Generation,
): Timings {
  const before = retrieve + gate + assemble;
  return {
    retrieve,
    gate,
    assemble,
    kvLoad: kvLoadMs,
    kvCompute: kvComputeMs + keep,
    prefill: firstTokenMs,
    firstToken: before + kvLoadMs + kvComputeMs + firstTokenMs,
    decode: decodeMs,
    total: before + answer + keep,
  };
}

function turnAccount(
  prefilled: Prefilled,
  prompt: BuiltPrompt,
  gated: GateDecision | undefined,
  ahead: Ahead | undefined,
): TurnAccount {
  const { account, suffix } = prefilled;
  const gate = gated?.evaluatedTokens ?? 0;
  const found = account.found?.tokens ?? 0;
  return {
    ...account,
    gate,
    evaluated: suffix.length - found + account.built + account.recomputed + selectorTokens(account, 'whole') + gate,
    sharesPositions: account.positions < countCells(prefilled, prompt),
    ...(ahead === undefined ? {} : { ahead }),
  };
}

/** Cells of the prompt if nothing were evicted. More than its tokens if sink tokens are repeated before each block. */
function countCells({ account, suffix }: Prefilled, { tokenIds }: BuiltPrompt): number {
  return Math.max(tokenIds.length, account.resident + suffix.length);
}

function countTokens(
  prompt: BuiltPrompt,
  { cache, resident, positions, remainder = 0 }: TurnAccount,
  { evaluated }: TokenMeter,
  { tokens }: Generation,
): TokenCounts {
  const injected = cache === 'bypass' ? 0 : prompt.prefixTokens - remainder;
  return {
    prompt: prompt.tokenIds.length - injected,
    kvResident: resident,
    evaluated: evaluated ?? Number.NaN,
    generated: tokens.length,
    positions,
  };
}

/** Marks the segments that were not evaluated: their KV was injected, or found in a prefix cache. */
function withOrigins(prompt: BuiltPrompt, { record, account }: Prefilled): PromptSegment[] {
  const injected = record === null ? account.resident : prompt.prefixTokens - (account.remainder ?? 0);
  let end = 0;
  return prompt.info.segments.map((segment) => {
    end += segment.tokenIds.length;
    return end <= injected ? { ...segment, origin: 'injected' } : segment;
  });
}

/** An answer ends after one sentence or `maxNewTokens` (default 48), and never exceeds the reserve. */
export function answerLimits(
  { stopTexts }: Pick<PromptForm, 'stopTexts'>,
  reserveTokens: number,
  request: Pick<ChatRequest, 'maxNewTokens' | 'temperature' | 'onText' | 'answerPrefix'> = {},
): GenerationLimits {
  const { maxNewTokens, temperature = 0, onText, answerPrefix = '' } = request;
  return {
    maxTokens: Math.min(maxNewTokens ?? DEFAULT_NEW_TOKENS, reserveTokens),
    stopTexts,
    oneSentence: true,
    temperature,
    ...(onText === undefined
      ? {}
      : { onToken: (id, text) => (id === null ? undefined : onText(withPrefix(answerPrefix, text))) }),
  };
}

/** Adds a warning if more new tokens are requested than the budget reserves. */
function withReserveWarning(prompt: BuiltPrompt, maxNewTokens: number | undefined): BuiltPrompt {
  const { budget } = prompt.info;
  const { reserveTokens } = budget;
  if (maxNewTokens === undefined || maxNewTokens <= reserveTokens) return prompt;
  const warning = `maxNewTokens ${maxNewTokens} is above the reserve: the answer ends after ${reserveTokens} tokens`;
  return { ...prompt, info: { ...prompt.info, budget: { ...budget, warnings: [...budget.warnings, warning] } } };
}

/** The form of the prompt, the answer prefix, and the tokens of the prefix (the last segment, if there is one). */
export function answerOpening({ name }: PromptForm, prefix: string, { info }: BuiltPrompt): TurnTrace['opening'] {
  const last = info.segments.at(-1);
  return { form: name, prefix, prefixTokens: last?.role === 'answerPrefix' ? last.tokenIds.length : 0 };
}

/** The answer as it is stored; its prefix includes the white space before the generated text. */
export function answerRecord({ text, tokens, stop, thoughtTokens }: Generation, prefix: string): AnswerRecord {
  return {
    text,
    tokenIds: tokens,
    stop,
    ...(prefix === '' ? {} : { prefix: withPrefix(prefix, text).slice(0, -text.length || undefined) }),
    ...(thoughtTokens === 0 ? {} : { thoughtTokens }),
  };
}

/**
 * The memories for the prompt, or the records of the summary.
 * @throws BenchError `bad-option` if the summary is missing, or if memories were selected that were not retrieved
 */
function shownMemories(
  { memories, summary }: RetrievedMemories,
  { memoriesAs = 'lines', select }: PromptRules,
  query: string,
): RetrievedMemories['memories'] {
  if (memoriesAs === 'lines') return select === undefined ? memories : selectedBy(select, memories, query);
  if (summary !== undefined) return summary.records;
  // The query was empty: nothing was retrieved, so there is no summary either.
  if (memories.length === 0) return memories;
  const message = 'an arm that shows the summary of its retriever was given memories without one';
  throw new BenchError('bad-option', message, 'add --retriever tiered, or choose another arm, such as rag');
}

function selectedBy(
  select: NonNullable<PromptRules['select']>,
  memories: RetrievedMemories['memories'],
  query: string,
): RetrievedMemories['memories'] {
  const selected = select(memories, query);
  const other = selected.find((one) => !memories.includes(one));
  if (other === undefined) return selected;
  const hint = 'return some of the memories that it is given, unchanged, in any order';
  throw new BenchError('bad-option', `rule select: memory ${other.memoryId} was not retrieved`, hint);
}
