import { holdsWords } from '../../../data/split-words.ts';
import type { DatasetItem, DatasetMemory } from '../../../data/dataset.ts';
import type { Language } from '../../../base/language.ts';
import type { TurnObservation } from '../../../store/records/turn-observation.ts';
import type { PromptInfo, PromptSegment } from '../../../store/records/prompt-info.ts';
import type { MemorySearchResult } from '../../../retrieval/retriever.ts';

export interface GivenForTurn {
  readonly item: DatasetItem;
  readonly visible: readonly DatasetMemory[];
  readonly memories: readonly MemorySearchResult[];
  /** Ids of the memories in the order in which the prompt must show them; undefined if any order is right. */
  readonly order?: readonly string[] | undefined;
  readonly language: Language;
  /** The context window, and the tokens of it that every prompt reserves for the answer. */
  readonly windowTokens: number;
  readonly reserveTokens: number;
}

/** Share of the window, without reserve and fixed parts, that memories must be allowed to fill. */
const MIN_SHARE = 0.5;
/** Upper bounds: the lines around the memories, and the label of one. */
const FRAME_TOKENS = 16;
const LABEL_TOKENS = 2;
/** The label of a memory, such as `[2] `, whose number is no answer. */
const LABEL = /^\s*\[\d+\] /;
const AROUND_MEMORIES: readonly PromptSegment['role'][] = ['memory', 'memoryHeader', 'memoryFooter'];

/** Compares the memories in a prompt with those that the arm was given, by id and by text. */
export function compareShownMemories(
  given: GivenForTurn,
  prompt: PromptInfo,
): NonNullable<TurnObservation['memories']> {
  const { item, visible, memories, language } = given;
  const shown = prompt.segments.filter(({ role }) => role === 'memory');
  const left = [...memories];
  const foreign: string[] = [];
  const altered: string[] = [];
  for (const { memoryId = '', text } of shown) {
    const own = left.findIndex((memory) => memory.memoryId === memoryId && holds(text, memory.content));
    const same = own === -1 ? left.findIndex((memory) => memory.memoryId === memoryId) : own;
    if (same === -1) foreign.push(memoryId);
    else left.splice(same, 1);
    if (same !== own) altered.push(memoryId);
  }
  const dropped = prompt.budget.dropped.filter(({ part }) => part === 'memory').map(({ id }) => id);
  const golds = item.answer === null ? [] : [item.answer, ...item.acceptedAnswers];
  const isOwn = ({ memoryId, text }: PromptSegment): boolean =>
    visible.some((memory) => memory.memoryId === memoryId || holds(text, memory.content));
  return {
    given: memories.length,
    shown: shown.length,
    foreign,
    altered,
    missing: left.map(({ memoryId }) => memoryId).filter((memoryId) => !dropped.includes(memoryId)),
    hidden: hiddenMemories(given, prompt),
    elsewhere: memoriesElsewhere(given, prompt.segments),
    ...(given.order === undefined ? {} : { misplaced: misplacedMemories(given.order, shown) }),
    own: shown.filter(isOwn).length,
    holdsGold: shown.some(({ text }) => golds.some((gold) => holdsWords(text.replace(LABEL, ''), gold, language))),
  };
}

function onOneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}

function holds(text: string, content: string): boolean {
  return onOneLine(text).includes(onOneLine(content));
}

/** Memories that were dropped for lack of space although there was space for them. */
function hiddenMemories({ windowTokens, reserveTokens }: GivenForTurn, { segments, budget }: PromptInfo): string[] {
  const [first] = budget.dropped.filter(({ part, rule }) => part === 'memory' && rule === 'memory-budget');
  if (first === undefined || budget.forced) return [];
  const around = segments.filter(({ role }) => AROUND_MEMORIES.includes(role));
  const fixed = segments.filter(({ role }) => !AROUND_MEMORIES.includes(role) && !role.startsWith('history'));
  const count = (some: readonly PromptSegment[]): number => some.flatMap(({ tokenIds }) => tokenIds).length;
  const limit = Math.floor(MIN_SHARE * Math.max(0, windowTokens - reserveTokens - count(fixed)));
  const shown = around.filter(({ role }) => role === 'memory').length;
  // Without a token count, the memory cannot have been found too long: it counts as empty.
  const needed = count(around) + (first.tokens ?? 0) + LABEL_TOKENS * (shown + 1) + FRAME_TOKENS;
  return needed < limit ? [first.id] : [];
}

/** Memories that are not where the order places them among the shown ones. */
function misplacedMemories(order: readonly string[], shown: readonly PromptSegment[]): string[] {
  const ids = shown.map(({ memoryId = '' }) => memoryId);
  const expected = order.filter((id) => ids.includes(id));
  return ids.filter((id, place) => id !== expected[place]);
}

/** The user's memories that appear in other parts of the prompt, and not among its memories. */
function memoriesElsewhere({ item, visible }: GivenForTurn, segments: readonly PromptSegment[]): string[] {
  const [shown, rest] = [true, false].map((wanted) => segments.filter(({ role }) => (role === 'memory') === wanted));
  const asked = [item.query, ...item.history.map(({ content }) => content)].map(onOneLine);
  const texts = onOneLine(rest!.map(({ text }) => text).join(' '));
  const others = asked.reduce((text, part) => text.replaceAll(part, ' '), texts);
  return visible
    .filter(({ content }) => others.includes(onOneLine(content)) && !shown!.some(({ text }) => holds(text, content)))
    .map(({ memoryId }) => memoryId);
}
