import type { TokenId } from '../../../engine/token-id.ts';
import type { ArmTraits } from '../../../records/arm-traits.ts';
import type { Observed } from '../../../records/observed.ts';
import type { ChatResponse } from '../../../systems/contracts.ts';
import { isPreference } from '../../../systems/prompt/placement.ts';

/** What an arm was to inject, by its prompt and not by its own account; no lines where there is nothing to inject. */
export interface InjectedParts {
  readonly header: readonly TokenId[];
  /** One of each memory, in the order of the prompt, and the memories that they are of. */
  readonly lines: readonly (readonly TokenId[])[];
  readonly memoryIds: readonly string[];
  /** Memories that are injected; one may have several lines. */
  readonly memories: number;
}

export function injectedParts(
  { injects }: Pick<ArmTraits, 'injects'>,
  { memoriesUsed, promptInfo: { segments } }: Pick<ChatResponse, 'memoriesUsed' | 'promptInfo'>,
): InjectedParts {
  if (injects === 'nothing') return { header: [], lines: [], memoryIds: [], memories: 0 };
  const wanted = injects === 'memories' ? memoriesUsed : memoriesUsed.filter(isPreference);
  const ids = new Set(wanted.map(({ memoryId }) => memoryId));
  const last = segments.findLastIndex(({ memoryId }) => memoryId !== undefined && ids.has(memoryId));
  const prefix = segments.slice(0, last + 1);
  return {
    header: prefix.flatMap(({ role, tokenIds }) => (role === 'memory' ? [] : tokenIds)),
    lines: prefix.flatMap(({ role, tokenIds }) => (role === 'memory' ? [tokenIds] : [])),
    memoryIds: prefix.flatMap(({ role, memoryId = '' }) => (role === 'memory' ? [memoryId] : [])),
    memories: wanted.length,
  };
}

/** The cells that injection must fill. */
export function injectable({
  header,
  lines,
  memories,
}: InjectedParts): Pick<Observed, 'injectableMemories' | 'injectableTokens'> {
  return { injectableMemories: memories, injectableTokens: header.length + lines.flat().length };
}
