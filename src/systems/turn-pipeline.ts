import { grammars } from '../config/grammar.ts';
import type { LanguageModel } from '../llm/language-model.ts';
import type { ModelSequence } from '../llm/model-sequence.ts';
import { answerLimits } from './answer-limits.ts';
import type { ChatRequest, ChatResponse, PromptSegment, Timings, TokenCounts } from './contracts.ts';
import type { ConversationLog, TurnRecord } from './conversation-log.ts';
import type { AheadWork, HandOver, HandOverResult } from './hand-over.ts';
import { linesToCome, type MemoryToCome } from './lines-to-come.ts';
import { buildPrompt, type BuiltPrompt, type PromptRules } from './prompt/build-prompt.ts';
import { promptFormOf } from './prompt/chat-form.ts';
import type { PromptForm } from './prompt/prompt-form.ts';
import { PromptTokenizer } from './prompt/prompt-tokenizer.ts';
import type { Recall } from './recall.ts';
import type { TurnGate } from './turn-gate.ts';

const MAX_HISTORY_TURNS = 10;
/** Where a request names none. */
const PRESET_SYSTEM_PROMPT = grammars.en.systemPrompts[0]!;

/** What every system is made of; two systems differ in `recall`, `openHandOver` and what they log. */
export interface TurnParts {
  /** Called at the first turn, so that recall works without a model. */
  readonly model: () => Promise<LanguageModel>;
  readonly openHandOver: (model: LanguageModel) => HandOver;
  readonly recall: Recall;
  readonly log: ConversationLog;
  readonly rules: Omit<PromptRules, 'windowTokens'>;
  /** Memories begin at one position and may take all cells of the context that are left. */
  readonly fillsCells?: boolean;
  /** Multiplies the values of injected memories. Default 1. */
  readonly alpha?: number;
  /** Decides before the prompt is made whether memories go into it. Without one they do. */
  readonly gate?: TurnGate;
  readonly injectionMode: string;
  readonly action: TurnRecord['action'];
  readonly topK: number;
  readonly threshold: number;
  readonly warn: (message: string) => void;
}

interface Opened {
  readonly model: LanguageModel;
  readonly tokenizer: PromptTokenizer;
  readonly form: PromptForm;
  readonly handOver: HandOver;
}

/** The one path of a turn through the house: recall → prompt → hand-over → model → response → log. */
export class TurnPipeline implements AsyncDisposable {
  readonly #parts: TurnParts;
  #opened: Opened | undefined;
  /** Done since the last turn. */
  #ahead: AheadWork | undefined;

  constructor(parts: TurnParts) {
    this.#parts = parts;
  }

  async run(request: ChatRequest): Promise<ChatResponse> {
    const parts = this.#parts;
    const opened = await this.#open();
    const userId = request.userId ?? '';
    const historyStart = performance.now();
    const history =
      request.includeHistory === false
        ? []
        : parts.log.history(request.sessionId, 2 * (request.maxHistoryTurns ?? MAX_HISTORY_TURNS));
    const historyMs = performance.now() - historyStart;
    const recalled = await parts.recall.search(request.query, {
      topK: request.topK ?? parts.topK,
      threshold: parts.threshold,
      ...(request.userId === undefined ? {} : { userId: request.userId }),
      history,
    });
    const meterBefore = opened.handOver.sequence.meter;
    const systemPrompt = request.systemPrompt ?? PRESET_SYSTEM_PROMPT;
    const { contextTokens, cellTokens } = opened.model.info;
    const cells = parts.fillsCells === true ? { cellTokens } : {};
    const rules = { ...parts.rules, windowTokens: contextTokens, ...cells };
    const gateStart = performance.now();
    const gated = await parts.gate?.(opened.handOver.sequence, recalled.memories, () => {
      const bare = { query: request.query, systemPrompt, memories: [], history: [] };
      return buildPrompt(bare, rules, opened.tokenizer, opened.form).tokenIds;
    });
    const assembleStart = performance.now();
    const gateMs = gated === undefined ? 0 : assembleStart - gateStart;
    const prompt = buildPrompt(
      {
        query: request.query,
        systemPrompt,
        memories: gated?.inject === false ? [] : recalled.memories,
        history,
      },
      rules,
      opened.tokenizer,
      opened.form,
    );
    prompt.info.budget.warnings.forEach((warning) => parts.warn(warning));
    const assemble = historyMs + performance.now() - assembleStart;

    const handOverStart = performance.now();
    const result = await opened.handOver.answer({
      prompt,
      userId,
      limits: answerLimits(opened.form, prompt.info.budget.reserveTokens, request),
      alpha: (parts.alpha ?? 1) * (gated?.alpha ?? 1),
    });
    const handOverMs = performance.now() - handOverStart;
    const timings = timingsOf({ retrieve: recalled.elapsedMs, gate: gateMs, assemble }, handOverMs, result);
    const tokens = countTokens(prompt, result, evaluatedSince(opened.handOver.sequence, meterBefore, result));
    const response: ChatResponse = {
      text: result.generation.text,
      memoriesUsed: prompt.kept,
      latencyMs: timings.total,
      inputTokens: prompt.tokenIds.length,
      outputTokens: tokens.generated,
      metadata: {
        injectionMode: parts.injectionMode,
        recalled: recalled.memories,
        retrieval: recalled.retrieval ?? null,
        reuse: result.reuse,
        builtTokens: result.builtTokens,
        linkTokens: result.linkTokens,
        gateTokens: gated?.evaluatedTokens ?? 0,
        expectedEvaluatedTokens: result.expectedEvaluatedTokens + (gated?.evaluatedTokens ?? 0),
        sharesPositions: result.positions < prompt.tokenIds.length,
        ...(gated === undefined ? {} : { gating: gated.details }),
        ...(this.#ahead === undefined ? {} : { ahead: this.#ahead }),
        sequenceTokenIds: opened.handOver.sequence.tokens.slice(0, prompt.tokenIds.length),
        answerTokenIds: result.generation.tokens,
        stop: result.generation.stop,
        answerLead: opened.form.answerLead,
        ...result.details,
      },
      promptInfo: { ...prompt.info, segments: withOrigins(prompt, result) },
      timings,
      tokens,
    };
    this.#ahead = undefined;
    this.#record(request, response, prompt);
    return response;
  }

  /** Computes what turns that show one of these memories will look for. The work is told with the next turn. */
  async prepare(userId: string, memories: readonly MemoryToCome[]): Promise<void> {
    const { model, handOver, tokenizer, form } = await this.#open();
    const { rules, topK } = this.#parts;
    const { contextTokens } = model.info;
    const toCome = linesToCome(
      memories,
      { form, systemPrompt: PRESET_SYSTEM_PROMPT, labels: rules.labels },
      topK,
      contextTokens,
      tokenizer,
    );
    const work = await handOver.prepare?.(userId, toCome);
    if (work === undefined) return;
    const { tokens, ms } = this.#ahead ?? { tokens: 0, ms: 0 };
    this.#ahead = { tokens: tokens + work.tokens, ms: ms + work.ms };
  }

  /** Brings another sequence to where the last answer began; gives the tokens still to be evaluated there. */
  async replay(sequence: ModelSequence): Promise<readonly number[]> {
    return (await this.#open()).handOver.replay(sequence);
  }

  /** Deletes what the last turn left behind of a memory. */
  forget(userId: string, memoryId: string): void {
    this.#opened?.handOver.forget(userId, memoryId);
  }

  /** Drops all K/V that was kept so far. */
  reset(): void {
    this.#opened?.handOver.reset();
  }

  /** Gives the sequence back to the model, which stays open, and deletes what the last turn left behind. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#opened?.handOver.forgetLastTurn();
    await this.#opened?.handOver.sequence.dispose();
    this.#opened = undefined;
  }

  /** What is known of the model; null before the first turn. */
  get modelInfo(): Readonly<Record<string, unknown>> | null {
    return this.#opened === undefined ? null : { ...this.#opened.model.info };
  }

  async #open(): Promise<Opened> {
    if (this.#opened === undefined) {
      const model = await this.#parts.model();
      const tokenizer = new PromptTokenizer(model, model.info.bosToken);
      const form = promptFormOf(this.#parts.rules.template, model);
      this.#opened ??= { model, tokenizer, form, handOver: this.#parts.openHandOver(model) };
    }
    return this.#opened;
  }

  #record(request: ChatRequest, response: ChatResponse, prompt: BuiltPrompt): void {
    this.#parts.log.record({
      sessionId: request.sessionId,
      userId: request.userId,
      query: request.query,
      answer: response.text,
      injectionMode: this.#parts.injectionMode,
      memoryIds: prompt.kept.map((memory) => memory.memoryId),
      latencyMs: response.latencyMs,
      action: this.#parts.action,
      metadata: { timings: response.timings, tokens: response.tokens },
    });
  }
}

function timingsOf(
  before: Pick<Timings, 'retrieve' | 'gate' | 'assemble'>,
  handOverMs: number,
  result: HandOverResult,
): Timings {
  const { kvLoadMs, kvComputeMs, keepMs, generation } = result;
  const beforeMs = before.retrieve + before.gate + before.assemble;
  return {
    ...before,
    kvLoad: kvLoadMs,
    kvCompute: kvComputeMs + keepMs,
    prefill: generation.prefillMs,
    firstToken: beforeMs + kvLoadMs + kvComputeMs + generation.firstTokenMs,
    decode: generation.decodeMs,
    total: beforeMs + handOverMs,
  };
}

/** What the meter of the sequence counted in this turn, less the passes that only generated. */
function evaluatedSince(sequence: ModelSequence, before: ModelSequence['meter'], result: HandOverResult): number {
  const after = sequence.meter;
  const metered = after.inputTokens - before.inputTokens + (after.outputTokens - before.outputTokens);
  return metered - result.generation.generatingPasses;
}

function countTokens(prompt: BuiltPrompt, result: HandOverResult, evaluated: number): TokenCounts {
  const total = prompt.tokenIds.length;
  const injected = result.reuse === 'none' ? 0 : prompt.prefixTokens;
  return {
    prompt: total - injected,
    kvResident: result.residentTokens,
    evaluated,
    generated: result.generation.tokens.length,
    positions: result.positions,
  };
}

function withOrigins(prompt: BuiltPrompt, result: HandOverResult): PromptSegment[] {
  let end = 0;
  return prompt.info.segments.map((segment) => {
    end += segment.tokenIds.length;
    return end <= result.residentTokens ? { ...segment, origin: 'injected' } : segment;
  });
}
