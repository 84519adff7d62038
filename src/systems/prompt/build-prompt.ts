import { BenchError } from '../../base/bench-error.ts';
import type { SystemPrompt } from '../../config/bench-config.ts';
import type { MemorySearchResult } from '../../retrieval/retriever.ts';
import type {
  Budget,
  DroppedPart,
  HistoryMessage,
  PromptInfo,
  PromptSegment,
} from '../../store/records/prompt-info.ts';
import type { AnswerPrefixRule } from './answer-prefix.ts';
import { isPreference, placed, type Placement, type PrefixMemories } from './placement.ts';
import type { PromptTokenizer } from './prompt-tokenizer.ts';
import { plainForm, type PromptForm } from './prompt-form.ts';
import { joinSegments, lineWriter, type LabelStyle, type MemoriesAs, type Segment } from './segments.ts';
import { selectHistory, selectMemories } from './select.ts';

/** Generation gets 512 tokens, at most a quarter of the window. */
const RESERVE_TOKENS = 512;
/** Memories get at most this share of what the fixed part leaves. */
const MEMORY_SHARE = 0.5;

/** The contents of a prompt, before selection. */
export interface PromptParts {
  readonly query: string;
  /** Empty for no system message. */
  readonly systemPrompt: string;
  /** In rank order. */
  readonly memories: readonly MemorySearchResult[];
  /** In order of time. */
  readonly history: readonly HistoryMessage[];
  /** As that of the rules, for this prompt. */
  readonly historyTurns?: number | undefined;
  /** The beginning of the answer. Default: none. */
  readonly answerPrefix?: string;
}

/** The settings by which a prompt is built. */
export interface PromptRules {
  readonly windowTokens: number;
  readonly reserveTokens?: number;
  readonly placement: Placement;
  readonly labels: LabelStyle;
  /** Default `lines`. */
  readonly memoriesAs?: MemoriesAs;
  /** The bench's own template, or the model's chat template. Default `plain`. */
  readonly template?: PromptForm['name'];
  /** The line above the memories. Default: `Relevant information:`. */
  readonly memoryHeader?: string;
  /** The system message of every question whose turn brings none. Default: that of the shipped models. */
  readonly systemPrompt?: SystemPrompt;
  /** Default: none. */
  readonly answerPrefix?: AnswerPrefixRule;
  /** Most turns of the history, a message of the user and its answer each. Default: as many as the budget holds. */
  readonly historyTurns?: number;
  /** Share of the remaining window that memories may take. Default 0.5. */
  readonly memoryShare?: number;
  /**
   * Cells of the context, where memories begin at one position (`parallel`): they may then take all cells that are left,
   * more than the window has positions. Without it cells are positions.
   */
  readonly cellTokens?: number;
  /** Cells of each memory beside its line, for tokens that stand in no prompt; history leaves them free. Default 0. */
  readonly sinkTokens?: number;
  /** Default `all`. */
  readonly prefix?: PrefixMemories;
}

/** A prompt, its ids and the end of its KV prefix. */
export interface BuiltPrompt {
  readonly info: PromptInfo;
  readonly tokenIds: readonly number[];
  /** Tokens of header and memory lines, up to the last that can be injected; 0 where none can. */
  readonly prefixTokens: number;
  /** In the order in which they stand, each once. */
  readonly kept: readonly MemorySearchResult[];
  /** Ids of all memories that it was given, the best first. */
  readonly ranked: readonly string[];
}

/**
 * The tokens kept free for generation: as many as are asked for, else 512, at most a quarter of the window.
 * @throws BenchError `bad-option` where that leaves nothing for a prompt
 */
export function reserveFor(windowTokens: number, askedTokens?: number): number {
  const reserveTokens = askedTokens ?? Math.min(RESERVE_TOKENS, Math.floor(windowTokens / 4));
  if (reserveTokens < windowTokens) return reserveTokens;
  throw new BenchError(
    'bad-option',
    `--reserve ${reserveTokens}: not smaller than the window of ${windowTokens} tokens`,
    `choose a reserve below ${windowTokens}`,
  );
}

/** Tokens that need no position of their own where all lines begin at one. */
function positionsShared(lineTokens: readonly number[]): number {
  return lineTokens.reduce((sum, tokens) => sum + tokens, 0) - Math.max(0, ...lineTokens);
}

/** The text from the first segment of these roles to the last. */
function textOf(segments: readonly Segment[], roles: readonly Segment['role'][]): string {
  const isWanted = ({ role }: Segment): boolean => roles.includes(role);
  const first = segments.findIndex(isWanted);
  return first === -1 ? '' : joinSegments(segments.slice(first, segments.findLastIndex(isWanted) + 1));
}

function finished(
  parts: PromptParts,
  segments: readonly PromptSegment[],
  kept: readonly MemorySearchResult[],
  messages: readonly HistoryMessage[],
  budget: Budget,
  prefix: PrefixMemories = 'all',
): BuiltPrompt {
  const inPrefix = new Set((prefix === 'all' ? kept : kept.filter(isPreference)).map((memory) => memory.memoryId));
  const lastMemory = segments.findLastIndex(({ memoryId }) => memoryId !== undefined && inPrefix.has(memoryId));
  const tokenIds = segments.flatMap((segment) => segment.tokenIds);
  return {
    info: {
      originalQuery: parts.query,
      systemPrompt: budget.forced ? '' : parts.systemPrompt,
      retrievedContext: textOf(segments, ['memoryHeader', 'memory']),
      historyText: textOf(segments, ['historyHeader', 'history']),
      historyMessages: messages,
      finalPrompt: joinSegments(segments),
      segments,
      budget: {
        ...budget,
        freeTokens:
          budget.windowTokens - budget.reserveTokens - tokenIds.length + budget.sharedTokens - (budget.sinkTokens ?? 0),
      },
    },
    tokenIds,
    prefixTokens: segments.slice(0, lastMemory + 1).reduce((sum, segment) => sum + segment.tokenIds.length, 0),
    kept: [...Map.groupBy(kept, ({ memoryId }) => memoryId).values()].map(([first]) => first!),
    ranked: parts.memories.map(({ memoryId }) => memoryId),
  };
}

/**
 * Builds the final sequence within the window: the fixed part, then memories in at most half of the rest,
 * then history from the newest backwards; where even the fixed part is too long, the query alone.
 * @throws BenchError `bad-option` where the reserve leaves nothing, `context-overflow` where the query alone is too long
 */
export function buildPrompt(
  parts: PromptParts,
  rules: PromptRules,
  tokenizer: PromptTokenizer,
  form: PromptForm = plainForm,
): Promise<BuiltPrompt> {
  return tokenizer.settle(() => plannedPrompt(parts, rules, tokenizer, form));
}

function plannedPrompt(
  parts: PromptParts,
  rules: PromptRules,
  tokenizer: PromptTokenizer,
  form: PromptForm,
): BuiltPrompt {
  const { windowTokens } = rules;
  const reserveTokens = reserveFor(windowTokens, rules.reserveTokens);
  const maxPromptTokens = windowTokens - reserveTokens;
  const { systemPrompt, query, answerPrefix = '' } = parts;
  const fixed = form.segments({ systemPrompt, lines: [], history: [], query, answerPrefix });
  const fixedTokens = tokenizer.bosTokens + tokenizer.countAll(fixed);
  const remainingTokens = Math.max(0, maxPromptTokens - fixedTokens);
  const remainingCells = (rules.cellTokens ?? windowTokens) - reserveTokens - fixedTokens;
  const memoryLimitTokens =
    rules.cellTokens === undefined ? Math.floor(remainingTokens * (rules.memoryShare ?? MEMORY_SHARE)) : remainingCells;
  const lineOf = lineWriter(rules);
  const memories = selectMemories(parts.memories, memoryLimitTokens, tokenizer, lineOf, form);
  const inOrder = placed(memories.kept, rules.placement, rules.prefix);
  const lines = inOrder.map((memory, index) => lineOf(memory, index + 1));
  const sharedTokens = rules.cellTokens === undefined ? 0 : positionsShared(lines.map((line) => tokenizer.count(line)));
  const sinkTokens = (rules.sinkTokens ?? 0) * lines.length;
  const historyLimitTokens =
    Math.min(remainingTokens - memories.tokens + sharedTokens, remainingCells - memories.tokens) - sinkTokens;
  const mostMessages = 2 * (parts.historyTurns ?? rules.historyTurns ?? Infinity);
  const history = selectHistory(parts.history, historyLimitTokens, mostMessages, tokenizer, form);
  const warnings: string[] = [];
  if (history.dropped.length > 0) warnings.push(`kept ${history.kept.length}/${parts.history.length} history messages`);
  const budget: Budget = {
    windowTokens,
    reserveTokens,
    fixedTokens,
    memoryLimitTokens,
    memoryTokens: memories.tokens,
    historyTokens: history.tokens,
    sharedTokens,
    ...(sinkTokens === 0 ? {} : { sinkTokens }),
    freeTokens: 0,
    dropped: [...memories.dropped, ...history.dropped],
    forced: false,
    warnings,
  };

  const segments = tokenizer.tokenize(
    form.segments({ systemPrompt, lines, history: history.kept, query, answerPrefix }),
  );
  const total = segments.reduce((sum, segment) => sum + segment.tokenIds.length, 0);
  return total - sharedTokens + sinkTokens <= maxPromptTokens
    ? finished(parts, segments, inOrder, history.kept, budget, rules.prefix)
    : forced(parts, form, tokenizer, budget, total, memories.kept, history.kept);
}

/** Truncates to the query alone: no system prompt, context and history cleared, a warning. */
function forced(
  parts: PromptParts,
  form: PromptForm,
  tokenizer: PromptTokenizer,
  budget: Budget,
  totalTokens: number,
  memories: readonly MemorySearchResult[],
  history: readonly HistoryMessage[],
): BuiltPrompt {
  const segments = tokenizer.tokenize(form.forced(parts.query, parts.answerPrefix ?? ''));
  const tokens = segments.reduce((sum, segment) => sum + segment.tokenIds.length, 0);
  const maxPromptTokens = budget.windowTokens - budget.reserveTokens;
  if (tokens > maxPromptTokens) {
    throw new BenchError(
      'context-overflow',
      `the query alone takes ${tokens} tokens; ${maxPromptTokens} of the window of ${budget.windowTokens} are for the prompt`,
      'shorten the query, lower --reserve, or choose a model with a larger window',
    );
  }
  const system = { part: 'system', id: 'system', rule: 'forced-truncation' } as const;
  const cleared: DroppedPart[] = [
    ...(parts.systemPrompt === '' ? [] : [{ ...system, tokens: tokenizer.count(form.system(parts.systemPrompt)) }]),
    ...memories.map((memory): DroppedPart => ({
      part: 'memory',
      id: memory.memoryId,
      tokens: 0,
      rule: 'forced-truncation',
    })),
    ...history.map((_, index): DroppedPart => ({
      part: 'history',
      id: String(index + 1),
      tokens: 0,
      rule: 'forced-truncation',
    })),
  ];
  return finished(parts, segments, [], [], {
    ...budget,
    fixedTokens: tokens,
    memoryTokens: 0,
    historyTokens: 0,
    sharedTokens: 0,
    ...(budget.sinkTokens === undefined ? {} : { sinkTokens: 0 }),
    dropped: [...budget.dropped, ...cleared],
    forced: true,
    warnings: [
      ...budget.warnings,
      `forced truncation: ${totalTokens} tokens > ${maxPromptTokens}; kept the query alone, without system prompt, memories and history`,
    ],
  });
}
