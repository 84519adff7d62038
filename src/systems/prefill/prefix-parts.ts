import type { TokenId } from '../../engine/token-id.ts';
import type { BuiltPrompt } from '../prompt/build-prompt.ts';
import type { LinesAhead, MemoryLine } from '../prompt/lines-ahead.ts';

/** A prompt as injection sees it. */
export interface PrefixParts extends LinesAhead {
  /** All behind the last line that is injected: evaluated in every turn. */
  readonly suffix: readonly TokenId[];
  /** Ids of all memories that the prompt was given, the best first. */
  readonly ranked: readonly string[];
}

/** Cuts a prompt at its memory lines; there are none where nothing is to be injected. */
export function prefixParts({ info, tokenIds, prefixTokens, ranked }: BuiltPrompt): PrefixParts {
  const header: TokenId[] = [];
  const lines: MemoryLine[] = [];
  let end = 0;
  for (const segment of info.segments) {
    end += segment.tokenIds.length;
    if (end > prefixTokens) break;
    if (segment.role === 'memory') lines.push({ memoryId: segment.memoryId!, tokenIds: segment.tokenIds });
    else header.push(...segment.tokenIds);
  }
  return { header, lines, suffix: tokenIds.slice(prefixTokens), ranked };
}
