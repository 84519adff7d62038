import { type CutLimits, lastExactCut } from '../../../engine/engine-capabilities.ts';
import type { TokenId, TokenRange } from '../../../engine/token-id.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
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

/** Tokens of an unedited prefix, up to the last exact cut; undefined if KV is edited, or nothing is injected. */
export function exactTokens(
  { prefill, evict, settings }: ArmTraits,
  { header, lines }: InjectedParts,
  { alpha, capabilities }: { readonly alpha: number; readonly capabilities: CutLimits },
): number | undefined {
  const isEdited = evict !== undefined || (settings.store ?? 'f16') !== 'f16' || alpha !== 1;
  if (prefill !== 'prefix' || isEdited || lines.length === 0) return undefined;
  return lastExactCut(capabilities, header.length + lines.flat().length);
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

/** Counts what a turn must inject. Eviction, kept sinks and exact cuts change the number of cells. */
export function expectedInjection(
  arm: ArmTraits,
  parts: InjectedParts,
  turn: Parameters<typeof exactTokens>[2] & { readonly given: readonly string[] },
): Pick<TurnObservation, 'injectableMemories' | 'injectableTokens' | 'injectableCells' | 'remainderTokens'> {
  const { prefill, evict, making } = arm;
  const { header, lines, memories } = parts;
  const tokens = header.length + lines.flat().length;
  const found = { injectableMemories: memories, injectableTokens: tokens };
  if (making?.sink?.kept === true && lines.length > 0) {
    return { ...found, injectableCells: tokens + making.sink.tokens * lines.length };
  }
  const remainderTokens = tokens - (exactTokens(arm, parts, turn) ?? tokens);
  if (remainderTokens > 0) return { ...found, remainderTokens };
  if (evict === undefined || lines.length === 0) return found;
  const [, ratio] = evict.split(':');
  const units = prefill === 'prefix' ? [lines.flat()] : lines;
  const repaired = repairedMemories(arm, parts, turn.given);
  const left = units.map(({ length }, unit) =>
    repaired?.has(unit) === true ? length : Math.max(1, Math.floor(length * (1 - Number(ratio)))),
  );
  return { ...found, injectableCells: left.reduce((sum, cells) => sum + cells, header.length) };
}
