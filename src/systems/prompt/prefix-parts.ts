import type { TokenId, TokenRange } from '../../engine/token-id.ts';
import type { PromptSegment } from '../../store/records/prompt-info.ts';
import type { BuiltPrompt } from './build-prompt.ts';

export interface MemoryLine {
  readonly memoryId: string;
  readonly tokenIds: readonly TokenId[];
}

export interface MemoryLines {
  readonly header: readonly TokenId[];
  readonly lines: readonly MemoryLine[];
}

export interface PrefixParts extends MemoryLines {
  /** Everything behind the last line that is injected: evaluated in every turn. */
  readonly suffix: readonly TokenId[];
  readonly question: TokenRange;
  /** Ids of all memories that the prompt was given, the best first. */
  readonly ranked: readonly string[];
}

/** Cuts a prompt at its memory lines; there are none where nothing is to be injected. */
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

/** The tokens of the question in a suffix; without a token of its own, the one in front of it. */
export function questionRange(segments: readonly Pick<PromptSegment, 'role' | 'tokenIds'>[]): TokenRange {
  const place = segments.findLastIndex(({ role }) => role === 'query');
  const end = segments.slice(0, place + 1).reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  return { start: Math.max(0, end - Math.max(1, segments[place]?.tokenIds.length ?? 0)), end };
}
