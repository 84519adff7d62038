import { meterDifference } from '../engine/token-meter.ts';
import type { PromptSegment } from '../store/records/prompt-info.ts';
import type { PrefillRecord } from '../store/records/prefill-record.ts';
import { selectedByModel, type TurnAccount } from '../store/records/turn-account.ts';
import type { ChatRequest, ChatResponse, RetrievedMemories } from './contracts.ts';
import { type LogEntry, logEntry } from './conversation-log.ts';
import type { Prefilled, PrefillStrategy } from './prefill/prefill-strategy.ts';
import type { GateDecision, TurnGate } from './prefill/dual-factor-gate.ts';
import { answerPrefixBy, noAnswerPrefix, withPrefix } from './prompt/answer-prefix.ts';
import { buildPrompt, type BuiltPrompt, type PromptRules } from './prompt/build-prompt.ts';
import type { PromptForm } from './prompt/prompt-form.ts';
import { PromptTokenizer } from './prompt/prompt-tokenizer.ts';
import { systemPromptFor } from './prompt/system-prompt.ts';
import { shownMemories } from './retrieve.ts';
import type { OpenEngine, SystemParts } from './system-parts.ts';
import { answerLimits, answerRecordOf, openingOf, withReserveWarning } from './turn-answer.ts';
import { countTokens, timed, timingsOf } from './turn-costs.ts';
import type { TurnTrace } from './turn-trace.ts';

/** A system's own parts; two systems differ in `retrieve`, `openStrategy` and what they log. */
export interface TurnParts extends SystemParts {
  readonly retrieve: (request: ChatRequest, history: NonNullable<ChatRequest['history']>) => Promise<RetrievedMemories>;
  /** Called at the first turn. */
  readonly openStrategy: (opened: OpenEngine) => Promise<PrefillStrategy>;
  /** Memories begin at one position and may take all cells of the context that are left. */
  readonly fillsCells?: boolean;
  /** Multiplies the values of injected memories. Default 1. */
  readonly alpha?: number;
  /** Decides before the prompt is built whether memories go into it. Without one they do. */
  readonly gate?: TurnGate;
  readonly injectionMode: string;
  readonly action: LogEntry['action'];
}

/** An engine, a session that is this turn's alone, and what a system opened for them. */
export interface OpenTurn extends OpenEngine {
  readonly form: PromptForm;
  readonly strategy: PrefillStrategy;
}

/** Work done ahead of turns, since the last one. */
export type Ahead = NonNullable<TurnAccount['ahead']>;

/** Makes one turn: retrieve → build the prompt → prefill → generate → respond → log. */
export async function answerTurn(
  opened: OpenTurn,
  parts: TurnParts,
  request: ChatRequest,
  ahead: Ahead | undefined,
): Promise<ChatResponse> {
  const { engine, session, form, strategy } = opened;
  const historyStart = performance.now();
  const history = historyOf(request, parts);
  const historyMs = performance.now() - historyStart;
  const retrieved = await parts.retrieve(request, history);
  const meterBefore = await session.meter();
  const rules = rulesOf(opened, parts);
  const systemPrompt = systemPromptFor(request, rules);
  const answerPrefix = answerPrefixBy(rules.answerPrefix ?? noAnswerPrefix, request.answerPrefix);
  // Each turn pays for tokenising its own prompt.
  const tokenizer = new PromptTokenizer(engine);
  const gateStart = performance.now();
  const gated = await parts.gate?.(
    session,
    retrieved.memories,
    async () => {
      const bare = { query: request.query, systemPrompt, memories: [], history: [], answerPrefix };
      return (await buildPrompt(bare, rules, tokenizer, form)).tokenIds;
    },
    signalOf(request),
  );
  const assembleStart = performance.now();
  const gateMs = gated === undefined ? 0 : assembleStart - gateStart;
  const memories = gated?.inject === false ? [] : shownMemories(retrieved, rules);
  const historyTurns = request.maxHistoryTurns === undefined ? {} : { historyTurns: request.maxHistoryTurns };
  const content = { query: request.query, systemPrompt, memories, history, ...historyTurns, answerPrefix };
  const prompt = withReserveWarning(await buildPrompt(content, rules, tokenizer, form), request.maxNewTokens);
  prompt.info.budget.warnings.forEach((warning) => parts.warn(warning));
  const assemble = historyMs + performance.now() - assembleStart;

  const prefillStart = performance.now();
  const alpha = (parts.alpha ?? 1) * (gated?.alpha ?? 1);
  const prefilled = await strategy.prefill(prompt, {
    session,
    userId: request.userId ?? '',
    alpha,
    ...signalOf(request),
  });
  const prefixPositions = session.tokens.length;
  const limits = answerLimits(form, prompt.info.budget.reserveTokens, { ...request, answerPrefix });
  const generation = await session.generate(prefilled.suffix, limits, signalOf(request));
  const sessionTokens = session.tokens.slice(0, cellsOf(prefilled, prompt));
  const kept = await timed(prefilled.keep);
  const after = { keepMs: kept.ms, answerMs: performance.now() - prefillStart };
  const timings = timingsOf({ retrieve: retrieved.elapsedMs, gate: gateMs, assemble }, prefilled, generation, after);
  const metered = meterDifference(await session.meter(), meterBefore);
  const account = accountOf(prefilled, prompt, gated, ahead);
  const tokens = countTokens(prompt, account, metered, generation);
  const trace: TurnTrace = {
    retrieved: retrieved.memories,
    retrieval: retrieved.record,
    ...(retrieved.summary === undefined ? {} : { summary: retrieved.summary.text }),
    prefill: recordWith(prefilled.record, kept.value),
    account,
    gating: gated?.details ?? null,
    suffix: prefilled.suffix,
    opening: openingOf(form, answerPrefix, prompt),
    prefixPositions,
    sessionTokens,
    answer: answerRecordOf(generation, answerPrefix),
  };
  const response: ChatResponse = {
    text: withPrefix(answerPrefix, generation.text),
    memoriesUsed: prompt.kept,
    latencyMs: timings.total,
    inputTokens: prompt.tokenIds.length,
    outputTokens: tokens.generated,
    metadata: { injectionMode: parts.injectionMode },
    promptInfo: { ...prompt.info, segments: withOrigins(prompt, injectedTokens(prompt, prefilled)) },
    timings,
    tokens,
    trace,
  };
  parts.log?.record(logEntry(request, response, parts.action));
  return response;
}

function historyOf(request: ChatRequest, { log }: TurnParts): NonNullable<ChatRequest['history']> {
  if (request.includeHistory === false) return [];
  return request.history ?? log?.history(request.sessionId) ?? [];
}

function rulesOf({ engine }: OpenEngine, { rules, fillsCells = false }: TurnParts): PromptRules {
  const { contextTokens, cellTokens } = engine.info;
  return { ...rules, windowTokens: contextTokens, ...(fillsCells ? { cellTokens } : {}) };
}

function accountOf(
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
    evaluated: suffix.length - found + account.built + account.recomputed + selectedByModel(account) + gate,
    sharesPositions: account.positions < cellsOf(prefilled, prompt),
    ...(ahead === undefined ? {} : { ahead }),
  };
}

/** A cell a token, evicted or not, and those of shared tokens, which stand in no prompt. */
function cellsOf({ account, suffix }: Prefilled, { tokenIds }: BuiltPrompt): number {
  return Math.max(tokenIds.length, account.resident + suffix.length);
}

/** A record with the bytes of what was kept behind the answer. */
function recordWith(record: PrefillRecord | null, sizeBytes: number | undefined): PrefillRecord | null {
  return record === null || sizeBytes === undefined ? record : { ...record, sizeBytes };
}

function signalOf({ signal }: ChatRequest): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

/** Tokens of the prompt whose KV was injected, or found in a cache of text. */
function injectedTokens({ prefixTokens }: BuiltPrompt, { record, account }: Prefilled): number {
  return record === null ? account.resident : prefixTokens;
}

function withOrigins(prompt: BuiltPrompt, injected: number): PromptSegment[] {
  let end = 0;
  return prompt.info.segments.map((segment) => {
    end += segment.tokenIds.length;
    return end <= injected ? { ...segment, origin: 'injected' } : segment;
  });
}
