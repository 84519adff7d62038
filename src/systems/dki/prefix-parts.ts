import type { BuiltPrompt } from '../prompt/build-prompt.ts';

/** A memory line of the prefix. */
export interface MemoryLine {
  readonly memoryId: string;
  readonly tokenIds: readonly number[];
}

/** A prompt as injection sees it. */
export interface PrefixParts {
  /** All before the first memory line. */
  readonly header: readonly number[];
  readonly lines: readonly MemoryLine[];
  /** All behind the last line that is injected: what is evaluated in every turn. */
  readonly suffix: readonly number[];
}

/** Cuts a prompt at its memory lines; there are none where nothing is to be injected. */
export function prefixParts({ info, tokenIds, prefixTokens }: BuiltPrompt): PrefixParts {
  const header: number[] = [];
  const lines: MemoryLine[] = [];
  let end = 0;
  for (const segment of info.segments) {
    end += segment.tokenIds.length;
    if (end > prefixTokens) break;
    if (segment.role === 'memory') lines.push({ memoryId: segment.memoryId!, tokenIds: segment.tokenIds });
    else header.push(...segment.tokenIds);
  }
  return { header, lines, suffix: tokenIds.slice(prefixTokens) };
}
