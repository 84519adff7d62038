import { type CutLimits, lastExactCut } from '../../../engine/engine-capabilities.ts';
import type { TokenId, TokenRange } from '../../../engine/token-id.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { EvictionName } from '../../../store/records/prefill-record.ts';
import type { TurnObservation } from '../../../store/records/turn-observation.ts';
import type { MemorySearchResult } from '../../../retrieval/retriever.ts';
import type { ChatResponse } from '../../../systems/memory-system.ts';
import { isPreference } from '../../../systems/prompt/memory-lines.ts';
import { parseRepair, repairedBlocks } from '../../../systems/prefill/repaired-blocks.ts';
import { questionRange } from '../../../systems/prompt/build-prompt.ts';

/** What an arm had to inject, derived from its prompt, not from its report. No lines if there is nothing to inject. */
export interface InjectedParts {
  readonly header: readonly TokenId[];
  /** Token ids of each memory's line, in the order of the prompt, and the ids of these memories. */
  readonly lines: readonly (readonly TokenId[])[];
  readonly memoryIds: readonly string[];
  readonly memories: number;
  /** Tokens after the last line, and the range of the question in them. */
  readonly suffix: readonly TokenId[];
  readonly question: TokenRange;
}

export function injectedParts({ injects }: ArmTraits, { memoriesUsed, promptInfo: { segments } }: ChatResponse) {
  const isInjected = (memory: MemorySearchResult): boolean => injects === 'memories' || isPreference(memory);
  const wanted = injects === 'nothing' ? [] : memoriesUsed.filter(isInjected);
  const ids = new Set(wanted.map(({ memoryId }) => memoryId));
  const last = segments.findLastIndex(({ memoryId }) => memoryId !== undefined && ids.has(memoryId));
  const prefix = segments.slice(0, last + 1);
  const suffix = segments.slice(last + 1);
  return {
    header: prefix.flatMap(({ role, tokenIds }) => (role === 'memory' ? [] : tokenIds)),
    lines: prefix.flatMap(({ role, tokenIds }) => (role === 'memory' ? [tokenIds] : [])),
    memoryIds: prefix.flatMap(({ role, memoryId = '' }) => (role === 'memory' ? [memoryId] : [])),
    memories: wanted.length,
    suffix: suffix.flatMap(({ tokenIds }) => tokenIds),
    question: questionRange(suffix),
  };
}

/** The factor on injected values: the arm's, else the one that the turn reports. */
export function turnAlpha({ alpha }: ArmTraits, { trace }: Pick<ChatResponse, 'trace'>): number {
  return alpha ?? trace.prefill?.alpha ?? 1;
}

/** Indexes of the memories whose blocks must be whole, by the arm's `@repair`. @param given ids of the memories, best first */
export function repairedMemories(
  { settings: { repair } }: Pick<ArmTraits, 'settings'>,
  { memoryIds, suffix }: Pick<InjectedParts, 'memoryIds' | 'suffix'>,
  given: readonly string[],
): ReadonlySet<number> | undefined {
  if (repair === undefined) return undefined;
  const ranks = memoryIds.map((memoryId) => given.indexOf(memoryId));
  return repairedBlocks(parseRepair(repair), ranks, suffix);
}

/** The lists of memory tokens that an arm evicts from: all memories together, or one by one. */
export function evictionUnits({ prefill }: Pick<ArmTraits, 'prefill'>, { lines }: Pick<InjectedParts, 'lines'>) {
  return prefill === 'prefix' ? [lines.flat()] : lines;
}

/** Tokens that eviction leaves of some. Shares no code with `kv`. */
export function tokensLeft(evict: EvictionName, tokens: number): number {
  return Math.max(1, Math.floor(tokens * (1 - Number(evict.split(':')[1]))));
}

/** Counts the cells of header and memories that a turn must inject, which eviction, kept sinks and exact cuts change. */
export function injectedCells(
  arm: ArmTraits,
  parts: InjectedParts,
  turn: { readonly alpha: number; readonly capabilities: CutLimits; readonly given: readonly string[] },
): number {
  const { prefill, evict, making, settings } = arm;
  const { header, lines } = parts;
  const tokens = header.length + lines.flat().length;
  if (making?.sink?.kept === true) return tokens + making.sink.tokens * lines.length;
  if (evict === undefined || lines.length === 0) {
    const isEdited = prefill !== 'prefix' || turn.alpha !== 1 || (settings.store ?? 'f16') !== 'f16';
    // What is behind the last exact cut of an unedited prefix is evaluated with the suffix.
    return isEdited ? tokens : lastExactCut(turn.capabilities, tokens);
  }
  const repaired = repairedMemories(arm, parts, turn.given);
  return evictionUnits(arm, parts).reduce(
    (sum, { length }, unit) => sum + (repaired?.has(unit) === true ? length : tokensLeft(evict, length)),
    header.length,
  );
}

/** Counts what a turn must inject. */
export function expectedInjection(
  arm: ArmTraits,
  parts: InjectedParts,
  turn: Parameters<typeof injectedCells>[2],
): Pick<TurnObservation, 'injectableMemories' | 'injectableTokens' | 'injectableCells' | 'remainderTokens'> {
  const { header, lines, memories } = parts;
  const tokens = header.length + lines.flat().length;
  const found = { injectableMemories: memories, injectableTokens: tokens };
  const cells = injectedCells(arm, parts, turn);
  const isEdited = arm.evict !== undefined || arm.making?.sink?.kept === true;
  if (isEdited && lines.length > 0) return { ...found, injectableCells: cells };
  return cells === tokens ? found : { ...found, remainderTokens: tokens - cells };
}
