import { languageOf } from '../config/language.ts';
import type { CallOptions } from '../engine/call-options.ts';
import { meterDifference } from '../engine/token-meter.ts';
import type { PromptSegment } from '../records/prompt-info.ts';
import type { TurnAccount } from '../records/turn-account.ts';
import type { ChatRequest, ChatResponse, PrepareOptions, RetrievedMemories, SystemStats } from './contracts.ts';
import { type LogEntry, logEntry } from './conversation-log.ts';
import type { Prefilled, PrefillStrategy } from './prefill/prefill-strategy.ts';
import type { GateDecision, TurnGate } from './prefill/turn-gate.ts';
import { answerPrefixBy, noAnswerPrefix, withPrefix } from './prompt/answer-prefix.ts';
import { buildPrompt, type BuiltPrompt, type PromptRules } from './prompt/build-prompt.ts';
import { promptFormOf } from './prompt/chat-form.ts';
import { linesAhead, type MemoryText } from './prompt/lines-ahead.ts';
import type { PromptForm } from './prompt/prompt-form.ts';
import { PromptTokenizer } from './prompt/prompt-tokenizer.ts';
import { systemPromptOf } from './prompt/system-prompt.ts';
import type { OpenEngine, SystemParts } from './system-parts.ts';
import { answerLimits, answerRecordOf, openingOf } from './turn-answer.ts';
import { countTokens, timeOf, timingsOf } from './turn-costs.ts';
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

interface Opened extends OpenEngine {
  readonly form: PromptForm;
  readonly strategy: PrefillStrategy;
}

/** Work done ahead of turns, since the last one. */
type Ahead = NonNullable<TurnAccount['ahead']>;

/** The one path of a turn: retrieve → build the prompt → prefill → generate → respond → log. */
export class TurnPipeline {
  readonly #parts: TurnParts;
  #opening: Promise<Opened> | undefined;
  #opened: Opened | undefined;
  #ahead: Ahead | undefined;

  constructor(parts: TurnParts) {
    this.#parts = parts;
  }

  async run(request: ChatRequest): Promise<ChatResponse> {
    const parts = this.#parts;
    const opened = await this.#open();
    const { engine, session, form, strategy } = opened;
    const historyStart = performance.now();
    const history = this.#historyOf(request);
    const historyMs = performance.now() - historyStart;
    const retrieved = await parts.retrieve(request, history);
    const meterBefore = await session.meter();
    const rules = this.#rules(opened);
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
    const memories = gated?.inject === false ? [] : retrieved.memories;
    const historyTurns = request.maxHistoryTurns === undefined ? {} : { historyTurns: request.maxHistoryTurns };
    const content = { query: request.query, systemPrompt, memories, history, ...historyTurns, answerPrefix };
    const prompt = await buildPrompt(content, rules, tokenizer, form);
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
    const sessionTokens = session.tokens.slice(0, prompt.tokenIds.length);
    const keepMs = await timeOf(prefilled.keep);
    const after = { keepMs, answerMs: performance.now() - prefillStart };
    const timings = timingsOf({ retrieve: retrieved.elapsedMs, gate: gateMs, assemble }, prefilled, generation, after);
    const metered = meterDifference(await session.meter(), meterBefore);
    const account = this.#account(prefilled, prompt, gated);
    const tokens = countTokens(prompt, account, metered, generation);
    const trace: TurnTrace = {
      retrieved: retrieved.memories,
      retrieval: retrieved.record,
      prefill: prefilled.record,
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
      promptInfo: { ...prompt.info, segments: withOrigins(prompt, account.resident) },
      timings,
      tokens,
      trace,
    };
    this.#ahead = undefined;
    parts.log?.record(logEntry(request, response, parts.action));
    return response;
  }

  /** Computes K/V that turns which show one of these memories will look for; the next turn's account says what it took. */
  async prepare(userId: string, memories: readonly MemoryText[], options: PrepareOptions = {}): Promise<void> {
    const { engine, session, form, strategy } = await this.#open();
    if (strategy.prepare === undefined) return;
    const { rules, topK } = this.#parts;
    const lines = await linesAhead(
      memories,
      {
        form,
        systemPrompt: systemPromptFor({ query: memories[0]?.content ?? '', ...options }, rules),
        labels: rules.labels,
        places: topK,
        windowTokens: engine.info.contextTokens,
      },
      new PromptTokenizer(engine),
    );
    const start = performance.now();
    const before = await session.meter();
    await strategy.prepare(lines, { session, userId, alpha: 1, ...signalOf(options) });
    const { evaluated } = meterDifference(await session.meter(), before);
    const { tokens, ms } = this.#ahead ?? { tokens: 0, ms: 0 };
    this.#ahead = { tokens: tokens + (evaluated ?? 0), ms: ms + performance.now() - start };
  }

  /** The strategy, opened; what it keeps can be forgotten before the first turn. */
  async strategy(): Promise<PrefillStrategy> {
    return (await this.#open()).strategy;
  }

  /** Deletes all K/V that was kept so far. */
  async reset(): Promise<void> {
    await this.#opened?.strategy.reset();
  }

  /** The model, and the counts of the K/V store where there is one; no model before the first turn. */
  stats(): Pick<SystemStats, 'model' | 'kvStore'> {
    if (this.#opened === undefined) return { model: null };
    const { engine, strategy } = this.#opened;
    const kvStore = strategy.stats();
    return { model: { ...engine.info }, ...(kvStore === null ? {} : { kvStore }) };
  }

  async dispose(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    this.#opening = undefined;
    await opened?.strategy.dispose();
  }

  async #open(): Promise<Opened> {
    this.#opening ??= this.#openParts();
    try {
      this.#opened = await this.#opening;
      return this.#opened;
    } catch (error) {
      // The next turn tries again.
      this.#opening = undefined;
      throw error;
    }
  }

  async #openParts(): Promise<Opened> {
    const { rules } = this.#parts;
    const opened = await this.#parts.open();
    const form = await promptFormOf(rules.template, opened.engine, rules.memoryHeader);
    return { ...opened, form, strategy: await this.#parts.openStrategy(opened) };
  }

  #historyOf(request: ChatRequest): NonNullable<ChatRequest['history']> {
    if (request.includeHistory === false) return [];
    return request.history ?? this.#parts.log?.history(request.sessionId) ?? [];
  }

  #rules({ engine }: OpenEngine): PromptRules {
    const { contextTokens, cellTokens } = engine.info;
    const cells = this.#parts.fillsCells === true ? { cellTokens } : {};
    return { ...this.#parts.rules, windowTokens: contextTokens, ...cells };
  }

  #account({ account, suffix }: Prefilled, prompt: BuiltPrompt, gated: GateDecision | undefined): TurnAccount {
    const gate = gated?.evaluatedTokens ?? 0;
    return {
      ...account,
      gate,
      evaluated: suffix.length + account.built + account.recomputed + gate,
      sharesPositions: account.positions < prompt.tokenIds.length,
      ...(this.#ahead === undefined ? {} : { ahead: this.#ahead }),
    };
  }
}

/** What the system message of a turn says. */
function systemPromptFor(
  { systemPrompt, language, query }: Pick<ChatRequest, 'systemPrompt' | 'language' | 'query'>,
  rules: Pick<PromptRules, 'systemPrompt'>,
): string {
  return systemPrompt ?? systemPromptOf(rules, language ?? languageOf(query));
}

function signalOf({ signal }: CallOptions): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

function withOrigins(prompt: BuiltPrompt, residentTokens: number): PromptSegment[] {
  let end = 0;
  return prompt.info.segments.map((segment) => {
    end += segment.tokenIds.length;
    return end <= residentTokens ? { ...segment, origin: 'injected' } : segment;
  });
}
