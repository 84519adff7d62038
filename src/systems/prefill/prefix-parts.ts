import type { TokenId, TokenRange } from '../../engine/token-id.ts';
import type { BuiltPrompt } from '../prompt/build-prompt.ts';
import type { LinesAhead, MemoryLine } from '../prompt/lines-ahead.ts';
import { questionRange } from '../prompt/question-range.ts';

/** A prompt as injection sees it. */
export interface PrefixParts extends LinesAhead {
  /** All behind the last line that is injected: evaluated in every turn. */
  readonly suffix: readonly TokenId[];
  /** The question in the suffix. */
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
