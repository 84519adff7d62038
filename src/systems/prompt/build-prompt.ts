import { BenchError } from '../../base/bench-error.ts';
import { type PromptText } from '../../config/bench-config.ts';
import { type MemorySearchResult } from '../../retrieval/retriever.ts';
import {
  type Budget,
  type DroppedPart,
  type HistoryMessage,
  type PromptInfo,
  type PromptSegment,
} from '../../store/records/prompt-info.ts';
import {
  type AnswerPrefixRule,
  type FormParts,
  type QueryLanguage,
  type PromptForm,
  type Segment,
  joinSegments,
  promptText,
} from './prompt-form.ts';
import { type PromptWriter, selectHistory, selectMemories } from './select-within-budget.ts';
import {
  type LabelStyle,
  type MemoriesAs,
  type Placement,
  type PrefixMemories,
  isPreference,
  lineWriter,
  orderMemories,
} from './memory-lines.ts';
import { type PromptTokenizer } from './prompt-tokenizer.ts';
import { plainForm } from './plain-form.ts';
import { grammarFor } from '../../base/english-and-chinese-wordings.ts';
import { detectLanguage } from '../../base/language.ts';
import { type TokenId, type TokenRange } from '../../engine/token-id.ts';

/** Default reserve for the answer, in tokens; at most a quarter of the window. */
const RESERVE_TOKENS = 512;
/** Default share, for memories, of the tokens that the reserve and the fixed part leave. */
const MEMORY_SHARE = 0.5;

export interface PromptParts extends Pick<FormParts, 'memoryHeader'> {
  readonly query: string;
  /** Empty for no system message. */
  readonly systemPrompt: string;
  /** Best first. */
  readonly memories: readonly MemorySearchResult[];
  /** Ids of the memories in the order of placement `stable`. Default: as in `memories`. */
  readonly stableOrder?: readonly string[];
  /** Oldest first. */
  readonly history: readonly HistoryMessage[];
  /** Overrides `PromptRules.historyTurns` for this prompt. */
  readonly historyTurns?: number | undefined;
  /** The beginning of the answer. Default: none. */
  readonly answerPrefix?: string;
}

export interface PromptRules {
  readonly windowTokens: number;
  readonly reserveTokens?: number;
  readonly placement: Placement;
  readonly labels: LabelStyle;
  /** Default `lines`. */
  readonly memoriesAs?: MemoriesAs;
  /** Default `plain`. */
  readonly template?: PromptForm['name'];
  /** The line above the memories. Default: `Relevant information:`. */
  readonly memoryHeader?: PromptText;
  /** System message of turns that set none. Default: the one that the shipped models were trained with. */
  readonly systemPrompt?: PromptText;
  /** Default: none. */
  readonly answerPrefix?: AnswerPrefixRule;
  /** Maximum turns of history (a user message and its answer each). Default: as many as fit the budget. */
  readonly historyTurns?: number;
  /** Share of the remaining window that memories may take. Default 0.5. */
  readonly memoryShare?: number;
  /**
   * Only for `parallel`, where all memories start at one position: cells of the context, which may be more than positions.
   * Memories may then fill all that remain. Default: as many cells as positions.
   */
  readonly cellTokens?: number;
  /** Sink tokens kept before each memory. They take cells, not prompt tokens, and are subtracted from the history's budget. Default 0. */
  readonly sinkTokens?: number;
  /** Default `all`. */
  readonly prefix?: PrefixMemories;
  /**
   * Which of the retrieved memories, best first, the prompt may show for a question, and in which order placement `rank` shows them.
   * An arm declares it by its trait `selects`. Default: all. Not for summaries.
   */
  readonly select?: (memories: readonly MemorySearchResult[], query: string) => readonly MemorySearchResult[];
}

/** A prompt, its token ids and the length of its KV prefix. */
export interface BuiltPrompt {
  readonly info: PromptInfo;
  readonly tokenIds: readonly number[];
  /** Length of the KV prefix: tokens from the start to the end of the last memory line that can be injected; 0 if none can. */
  readonly prefixTokens: number;
  /** The memories in the prompt, in prompt order, each once. */
  readonly memories: readonly MemorySearchResult[];
  /** Ids of all memories that the prompt could choose from, best first. */
  readonly ranked: readonly string[];
}

/** Tokens reserved for the answer. @throws BenchError `bad-option` if nothing is left for the prompt */
export function reserveFor(windowTokens: number, requestedTokens?: number): number {
  const reserveTokens = requestedTokens ?? Math.min(RESERVE_TOKENS, Math.floor(windowTokens / 4));
  if (reserveTokens < windowTokens) return reserveTokens;
  const message = `--reserve ${reserveTokens}: not smaller than the window of ${windowTokens} tokens`;
  throw new BenchError('bad-option', message, `choose a reserve below ${windowTokens}`);
}

/**
 * Builds the prompt: the fixed part, memories in their share of the rest, then the newest history. If even the fixed part
 * does not fit, only the query is left.
 * @throws BenchError `bad-option` if the reserve leaves nothing, `context-overflow` if the query alone is too long
 */
export function buildPrompt(
  parts: PromptParts,
  rules: PromptRules,
  tokenizer: PromptTokenizer,
  form: PromptForm = plainForm,
): Promise<BuiltPrompt> {
  return tokenizer.settle(() => planPrompt(parts, rules, { tokenizer, form }));
}

interface Content {
  readonly segments: readonly PromptSegment[];
  readonly memories: readonly MemorySearchResult[];
  readonly messages: readonly HistoryMessage[];
  readonly budget: Omit<Budget, 'freeTokens'>;
}

function planPrompt(parts: PromptParts, rules: PromptRules, writer: PromptWriter): BuiltPrompt {
  const { windowTokens, cellTokens, memoryShare = MEMORY_SHARE, prefix } = rules;
  const { systemPrompt, memoryHeader, query, answerPrefix = '' } = parts;
  const { historyTurns = rules.historyTurns ?? Infinity } = parts;
  const { tokenizer, form } = writer;
  const reserveTokens = reserveFor(windowTokens, rules.reserveTokens);
  const frame = { systemPrompt, memoryHeader, query, answerPrefix };
  const fixedTokens = countTokens(tokenizer.tokenize(form.segments({ ...frame, lines: [], history: [] })));
  const remainingTokens = Math.max(0, windowTokens - reserveTokens - fixedTokens);
  const remainingCells = (cellTokens ?? windowTokens) - reserveTokens - fixedTokens;
  const memoryLimitTokens = cellTokens === undefined ? Math.floor(remainingTokens * memoryShare) : remainingCells;
  const write = lineWriter(rules);
  const around = { tokenizer, frame: form.memoryFrame(memoryHeader) };
  const selected = selectMemories(parts.memories, memoryLimitTokens, write, around);
  const memories = orderMemories(selected.kept, { ...rules, ...parts });
  const lines = memories.map((memory, index) => write(memory, index + 1));
  const sharedTokens = cellTokens === undefined ? 0 : positionsShared(lines.map((line) => tokenizer.count(line)));
  const sinkTokens = (rules.sinkTokens ?? 0) * lines.length;
  const historyLimitTokens =
    Math.min(remainingTokens - selected.tokens + sharedTokens, remainingCells - selected.tokens) - sinkTokens;
  const history = selectHistory(parts.history, historyLimitTokens, 2 * historyTurns, writer);
  const isCut = history.dropped.length > 0;
  const content: Content = {
    segments: tokenizer.tokenize(form.segments({ ...frame, lines, history: history.kept })),
    memories,
    messages: history.kept,
    budget: {
      windowTokens,
      reserveTokens,
      fixedTokens,
      memoryLimitTokens,
      memoryTokens: selected.tokens,
      historyTokens: history.tokens,
      sharedTokens,
      ...(sinkTokens === 0 ? {} : { sinkTokens }),
      dropped: [...selected.dropped, ...history.dropped],
      forced: false,
      warnings: isCut ? [`kept ${history.kept.length}/${parts.history.length} history messages`] : [],
    },
  };
  return freeTokens(content) >= 0
    ? finished(parts, content, prefix)
    : finished(parts, forced(parts, { ...content, memories: selected.kept }, writer));
}

/** How many positions are saved if all lines start at the same position. */
function positionsShared(lineTokens: readonly number[]): number {
  return lineTokens.reduce((sum, tokens) => sum + tokens, 0) - Math.max(0, ...lineTokens);
}

function countTokens(segments: readonly PromptSegment[]): number {
  return segments.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
}

/** Positions that are left; negative if the content is too long. */
function freeTokens({ segments, budget }: Content): number {
  const { windowTokens, reserveTokens, sharedTokens, sinkTokens = 0 } = budget;
  return windowTokens - reserveTokens - countTokens(segments) + sharedTokens - sinkTokens;
}

/** Truncates the prompt to the query alone and adds a warning. */
function forced(parts: PromptParts, planned: Content, { tokenizer, form }: PromptWriter): Content {
  const { budget, memories, messages } = planned;
  const segments = tokenizer.tokenize(form.forced(parts.query, parts.answerPrefix ?? ''));
  const fixedTokens = countTokens(segments);
  const most = budget.windowTokens - budget.reserveTokens;
  if (fixedTokens > most) {
    throw new BenchError(
      'context-overflow',
      `the query alone takes ${fixedTokens} tokens, but the window of ${budget.windowTokens} leaves only ${most} for the prompt`,
      'shorten the query, lower --reserve, or choose a model with a larger window',
    );
  }
  const rule = 'forced-truncation' as const;
  const drop = (part: DroppedPart['part'], id: string, tokens: number | null = null) => ({ part, id, tokens, rule });
  const { systemPrompt } = parts;
  const warning = `forced truncation: ${countTokens(planned.segments)} tokens > ${most}; kept the query alone, without system prompt, memories and history`;
  return {
    segments,
    memories: [],
    messages: [],
    budget: {
      ...budget,
      fixedTokens,
      memoryTokens: 0,
      historyTokens: 0,
      sharedTokens: 0,
      ...(budget.sinkTokens === undefined ? {} : { sinkTokens: 0 }),
      dropped: [
        ...budget.dropped,
        ...(systemPrompt === '' ? [] : [drop('system', 'system', tokenizer.count(form.system(systemPrompt)))]),
        ...memories.map(({ memoryId }) => drop('memory', memoryId)),
        ...messages.map((_, index) => drop('history', String(index + 1))),
      ],
      forced: true,
      warnings: [...budget.warnings, warning],
    },
  };
}

/** @param prefix the memories that can be injected */
function finished(parts: PromptParts, content: Content, prefix: PrefixMemories = 'all'): BuiltPrompt {
  const { segments, memories, messages, budget } = content;
  const injected = prefix === 'all' ? memories : memories.filter(isPreference);
  const inPrefix = new Set(injected.map(({ memoryId }) => memoryId));
  const lastMemory = segments.findLastIndex(({ memoryId }) => memoryId !== undefined && inPrefix.has(memoryId));
  return {
    info: {
      originalQuery: parts.query,
      systemPrompt: budget.forced ? '' : parts.systemPrompt,
      retrievedContext: textOf(segments, ['memoryHeader', 'memory']),
      historyText: textOf(segments, ['historyHeader', 'history']),
      historyMessages: messages,
      finalPrompt: joinSegments(segments),
      segments,
      budget: { ...budget, freeTokens: freeTokens(content) },
    },
    tokenIds: segments.flatMap(({ tokenIds }) => tokenIds),
    prefixTokens: countTokens(segments.slice(0, lastMemory + 1)),
    memories: [...Map.groupBy(memories, ({ memoryId }) => memoryId).values()].map(([first]) => first!),
    ranked: parts.memories.map(({ memoryId }) => memoryId),
  };
}

function textOf(segments: readonly Segment[], roles: readonly Segment['role'][]): string {
  const isWanted = ({ role }: Segment): boolean => roles.includes(role);
  const first = segments.findIndex(isWanted);
  return first === -1 ? '' : joinSegments(segments.slice(first, segments.findLastIndex(isWanted) + 1));
}

/**
 * The system message of a turn (its own, else that of the rules, else the default) and its memory header (that of the rules, if
 * any). Except for the turn's own, they are in the user's language, or the query's.
 */
export function turnTexts(
  turn: QueryLanguage & { readonly systemPrompt?: string | undefined },
  { systemPrompt, memoryHeader }: Pick<PromptRules, 'systemPrompt' | 'memoryHeader'>,
): Pick<PromptParts, 'systemPrompt' | 'memoryHeader'> {
  const textOfRules = (text: PromptText | undefined) => (text === undefined ? undefined : promptText(text, turn));
  const { language = detectLanguage(turn.query) } = turn;
  return {
    systemPrompt: turn.systemPrompt ?? textOfRules(systemPrompt) ?? grammarFor(language).systemPrompts[0]!,
    memoryHeader: textOfRules(memoryHeader),
  };
}

export interface MemoryLine {
  readonly memoryId: string;
  readonly tokenIds: readonly TokenId[];
}

export interface MemoryLines {
  readonly header: readonly TokenId[];
  readonly lines: readonly MemoryLine[];
}

export interface PrefixParts extends MemoryLines {
  /** Everything after the last injected line; evaluated in every turn. */
  readonly suffix: readonly TokenId[];
  readonly question: TokenRange;
  /** As `BuiltPrompt.ranked`. */
  readonly ranked: readonly string[];
}

/** Splits a prompt into header, memory lines and suffix. There are no lines if nothing is injected. */
export function prefixParts({ info, tokenIds, prefixTokens, ranked }: BuiltPrompt): PrefixParts {
  const header: TokenId[] = [];
  const lines: MemoryLine[] = [];
  let [end, count] = [0, 0];
  for (const segment of info.segments) {
    end += segment.tokenIds.length;
    if (end > prefixTokens) break;
    count++;
    if (segment.role === 'memory') lines.push({ memoryId: segment.memoryId!, tokenIds: segment.tokenIds });
    else header.push(...segment.tokenIds);
  }
  const question = questionRange(info.segments.slice(count));
  return { header, lines, suffix: tokenIds.slice(prefixTokens), question, ranked };
}

/** Roles of the segments before the first text of a user. */
const SYSTEM_ROLES: readonly PromptSegment['role'][] = ['bos', 'system', 'template', 'memoryHeader'];

/** Tokens of a prompt before the first text of a user: its memories, history or question. */
export function systemTokens(segments: readonly PromptSegment[]): number {
  const own = segments.findIndex(({ role }) => !SYSTEM_ROLES.includes(role));
  return countTokens(segments.slice(0, own));
}

/** The question's token range in a suffix; if the question is empty, the range of the token before it. */
export function questionRange(segments: readonly Pick<PromptSegment, 'role' | 'tokenIds'>[]): TokenRange {
  const place = segments.findLastIndex(({ role }) => role === 'query');
  const end = segments.slice(0, place + 1).reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  return { start: Math.max(0, end - Math.max(1, segments[place]?.tokenIds.length ?? 0)), end };
}
