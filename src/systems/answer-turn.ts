import type { Generation, GenerationLimits } from '../engine/engine-session.ts';
import { meterDifference, type TokenMeter } from '../engine/token-meter.ts';
import type { PromptSegment } from '../store/records/prompt-info.ts';
import {
  type AnswerRecord,
  selectedByModel,
  type Timings,
  type TokenCounts,
  type TurnAccount,
} from '../store/records/turn-record.ts';
import type { ChatRequest, ChatResponse, RetrievedMemories, TurnTrace } from './contracts.ts';
import { type LogEntry, logEntry } from './conversation-log.ts';
import type { GateDecision, TurnGate } from './prefill/dual-factor-gate.ts';
import type { Prefilled, PrefillStrategy } from './prefill/prefill-strategy.ts';
import { answerPrefixBy, noAnswerPrefix, withPrefix } from './prompt/answer-prefix.ts';
import { buildPrompt, type BuiltPrompt, type PromptRules } from './prompt/build-prompt.ts';
import type { PromptForm } from './prompt/prompt-form.ts';
import { PromptTokenizer } from './prompt/prompt-tokenizer.ts';
import { systemPromptFor } from './prompt/system-prompt.ts';
import { shownMemories } from './retrieve.ts';
import type { OpenEngine, SystemParts } from './system-parts.ts';

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

/** An engine, a session that only this turn uses, and what a system opened for them. */
export interface OpenTurn extends OpenEngine {
  readonly form: PromptForm;
  readonly strategy: PrefillStrategy;
}

/** Work done ahead of turns, since the last one. */
export type Ahead = NonNullable<TurnAccount['ahead']>;

const DEFAULT_NEW_TOKENS = 48;

/** Makes one turn: retrieve → gate → build the prompt → prefill → generate → store KV → log. */
export async function answerTurn(
  { engine, session, form, strategy }: OpenTurn,
  parts: TurnParts,
  request: ChatRequest,
  ahead: Ahead | undefined,
): Promise<ChatResponse> {
  const signal = request.signal === undefined ? {} : { signal: request.signal };
  const lap = stopwatch();
  const history =
    request.includeHistory === false ? [] : (request.history ?? parts.log?.history(request.sessionId) ?? []);
  const historyMs = lap();
  const retrieved = await parts.retrieve(request, history);
  const meterBefore = await session.meter();
  const { contextTokens, cellTokens } = engine.info;
  const cells = parts.fillsCells === true ? { cellTokens } : {};
  const rules: PromptRules = { ...parts.rules, windowTokens: contextTokens, ...cells };
  const systemPrompt = systemPromptFor(request, rules);
  const answerPrefix = answerPrefixBy(rules.answerPrefix ?? noAnswerPrefix, request.answerPrefix);
  const { query, maxHistoryTurns: historyTurns } = request;
  // Each turn pays for tokenising its own prompt.
  const tokenizer = new PromptTokenizer(engine);
  lap();
  const bareTokens = async (): Promise<readonly number[]> => {
    const bare = { query, systemPrompt, memories: [], history: [], answerPrefix };
    return (await buildPrompt(bare, rules, tokenizer, form)).tokenIds;
  };
  const gated = await parts.gate?.(session, retrieved.memories, bareTokens, signal);
  const gateMs = gated === undefined ? 0 : lap();
  const memories = gated?.inject === false ? [] : shownMemories(retrieved, rules);
  const content = {
    query,
    systemPrompt,
    memories,
    history,
    ...(historyTurns === undefined ? {} : { historyTurns }),
    answerPrefix,
  };
  const prompt = withReserveWarning(await buildPrompt(content, rules, tokenizer, form), request.maxNewTokens);
  prompt.info.budget.warnings.forEach((warning) => parts.warn(warning));
  const before = { retrieve: retrieved.elapsedMs, gate: gateMs, assemble: historyMs + lap() };

  const alpha = (parts.alpha ?? 1) * (gated?.alpha ?? 1);
  const prefilled = await strategy.prefill(prompt, { session, userId: request.userId ?? '', alpha, ...signal });
  const prefixPositions = session.tokens.length;
  const limits = answerLimits(form, prompt.info.budget.reserveTokens, { ...request, answerPrefix });
  const generation = await session.generate(prefilled.suffix, limits, signal);
  const sessionTokens = session.tokens.slice(0, countCells(prefilled, prompt));
  const untilAnswerMs = lap();
  const keptBytes = await prefilled.keep?.();
  const keepMs = prefilled.keep === undefined ? 0 : lap();
  const timings = turnTimings(before, prefilled, generation, { keepMs, answerMs: untilAnswerMs + keepMs });
  const metered = meterDifference(await session.meter(), meterBefore);
  const account = turnAccount(prefilled, prompt, gated, ahead);
  const tokens = countTokens(prompt, account, metered, generation);
  const trace: TurnTrace = {
    retrieved: retrieved.memories,
    retrieval: retrieved.record,
    ...(retrieved.summary === undefined ? {} : { summary: retrieved.summary.text }),
    prefill:
      prefilled.record === null || keptBytes === undefined
        ? prefilled.record
        : { ...prefilled.record, sizeBytes: keptBytes },
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
    memoriesUsed: prompt.kept,
    latencyMs: timings.total,
    inputTokens: prompt.tokenIds.length,
    outputTokens: tokens.generated,
    metadata: { injectionMode: parts.injectionMode },
    promptInfo: { ...prompt.info, segments: withOrigins(prompt, prefilled) },
    timings,
    tokens,
    trace,
  };
  parts.log?.record(logEntry(request, response, parts.action));
  return response;
}

/** Each call gives the milliseconds since the last one. */
function stopwatch(): () => number {
  let last = performance.now();
  return () => {
    const before = last;
    last = performance.now();
    return last - before;
  };
}

function turnTimings(
  before: Pick<Timings, 'retrieve' | 'gate' | 'assemble'>,
  { kvLoadMs, kvComputeMs }: Prefilled,
  { firstTokenMs, decodeMs }: Generation,
  { keepMs, answerMs }: { readonly keepMs: number; readonly answerMs: number },
): Timings {
  const beforeMs = before.retrieve + before.gate + before.assemble;
  return {
    ...before,
    kvLoad: kvLoadMs,
    kvCompute: kvComputeMs + keepMs,
    prefill: firstTokenMs,
    firstToken: beforeMs + kvLoadMs + kvComputeMs + firstTokenMs,
    decode: decodeMs,
    total: beforeMs + answerMs,
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
    evaluated: suffix.length - found + account.built + account.recomputed + selectedByModel(account) + gate,
    sharesPositions: account.positions < countCells(prefilled, prompt),
    ...(ahead === undefined ? {} : { ahead }),
  };
}

/** A cell a token, evicted or not, and those of shared tokens, which are not in the prompt. */
function countCells({ account, suffix }: Prefilled, { tokenIds }: BuiltPrompt): number {
  return Math.max(tokenIds.length, account.resident + suffix.length);
}

function countTokens(
  prompt: BuiltPrompt,
  { cache, resident, positions }: TurnAccount,
  { evaluated }: TokenMeter,
  { tokens }: Generation,
): TokenCounts {
  const injected = cache === 'bypass' ? 0 : prompt.prefixTokens;
  return {
    prompt: prompt.tokenIds.length - injected,
    kvResident: resident,
    evaluated: evaluated ?? Number.NaN,
    generated: tokens.length,
    positions,
  };
}

/** Marks the segments whose KV was injected, or found in a cache of text. */
function withOrigins(prompt: BuiltPrompt, { record, account }: Prefilled): PromptSegment[] {
  const injected = record === null ? account.resident : prompt.prefixTokens;
  let end = 0;
  return prompt.info.segments.map((segment) => {
    end += segment.tokenIds.length;
    return end <= injected ? { ...segment, origin: 'injected' } : segment;
  });
}

/** An answer ends after one sentence, after 48 tokens by default, and within the reserve. */
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

/** Adds a warning where more new tokens are requested than the budget reserves. */
function withReserveWarning(prompt: BuiltPrompt, maxNewTokens: number | undefined): BuiltPrompt {
  const { budget } = prompt.info;
  const { reserveTokens } = budget;
  if (maxNewTokens === undefined || maxNewTokens <= reserveTokens) return prompt;
  const warning = `maxNewTokens ${maxNewTokens} is above the reserve: the answer ends after ${reserveTokens} tokens`;
  return { ...prompt, info: { ...prompt.info, budget: { ...budget, warnings: [...budget.warnings, warning] } } };
}

/** How the prompt opens the answer: with the prefix as its last segment, where there is one. */
export function answerOpening(
  { name }: Pick<PromptForm, 'name'>,
  prefix: string,
  { info }: BuiltPrompt,
): TurnTrace['opening'] {
  const last = info.segments.at(-1);
  return { form: name, prefix, prefixTokens: last?.role === 'answerPrefix' ? last.tokenIds.length : 0 };
}

/** An answer as it is stored; its prefix with the white space that separates the two. */
export function answerRecord({ text, tokens, stop, thoughtTokens }: Generation, prefix: string): AnswerRecord {
  return {
    text,
    tokenIds: tokens,
    stop,
    ...(prefix === '' ? {} : { prefix: withPrefix(prefix, text).slice(0, -text.length || undefined) }),
    ...(thoughtTokens === 0 ? {} : { thoughtTokens }),
  };
}
