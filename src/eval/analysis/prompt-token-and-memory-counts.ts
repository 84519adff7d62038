import { createHash } from 'node:crypto';
import type { PromptInfo } from '../../store/records/prompt-info.ts';
import type { PromptFacts } from '../../store/records/turn-record.ts';

/** Counts the tokens and memories of a prompt. @param retrievedMemories number of memories retrieved for it */
export function promptFacts({ segments, budget, historyText }: PromptInfo, retrievedMemories: number): PromptFacts {
  const tokensOf = (list: PromptInfo['segments']) => list.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  const lastMemory = segments.findLastIndex(({ role }) => role === 'memory');
  const dropped = (part: 'memory' | 'history'): number => budget.dropped.filter((drop) => drop.part === part).length;
  const memoryIds = [...new Set(segments.flatMap(({ memoryId }) => memoryId ?? []))];
  return {
    tokens: tokensOf(segments),
    prefixTokens: tokensOf(segments.slice(0, lastMemory + 1)),
    memoryIds,
    forced: budget.forced,
    droppedMemories: dropped('memory'),
    droppedHistory: dropped('history'),
    memoryTokens: tokensOf(segments.filter(({ role }) => role.startsWith('memory'))),
    historySha256: createHash('sha256').update(historyText).digest('hex'),
    retrievedMemories,
    keptMemories: memoryIds.length,
  };
}
