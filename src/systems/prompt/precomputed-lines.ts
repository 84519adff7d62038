import type { MemoryLines } from './build-prompt.ts';
import type { FormParts, PromptForm } from './prompt-form.ts';
import { type LabelStyle, memorySegment } from './memory-lines.ts';
import type { PromptTokenizer } from './prompt-tokenizer.ts';

export interface MemoryText {
  readonly memoryId: string;
  readonly content: string;
}

/** Properties of later prompts that decide how a memory line is tokenised. */
export interface FuturePrompts extends Pick<FormParts, 'systemPrompt' | 'memoryHeader'> {
  readonly form: PromptForm;
  readonly labels: LabelStyle;
  /** Memories in a prompt. With numbered labels, each memory has one line for each of these places. */
  readonly places: number;
  readonly windowTokens: number;
}

/** Tokenises every line that a memory may become in later prompts. Omits lines that do not fit the window. */
export function precomputedLines(
  memories: readonly MemoryText[],
  { form, labels, places, windowTokens, ...texts }: FuturePrompts,
  tokenizer: PromptTokenizer,
): Promise<MemoryLines> {
  const labelled = Array.from({ length: labels === 'bullet' ? 1 : places }, (_, index) => index + 1);
  const lines = memories.flatMap(({ memoryId, content }) =>
    labelled.map((place) => memorySegment(memoryId, content, place, labels)),
  );
  return tokenizer.settle(() => {
    const segments = tokenizer.tokenize(form.segments({ ...texts, lines, history: [], query: '', answerPrefix: '' }));
    const first = segments.findIndex(({ memoryId }) => memoryId !== undefined);
    const header = segments.slice(0, first).flatMap(({ tokenIds }) => tokenIds);
    return {
      header,
      lines: segments.flatMap(({ memoryId, tokenIds }) =>
        memoryId !== undefined && header.length + tokenIds.length < windowTokens ? [{ memoryId, tokenIds }] : [],
      ),
    };
  });
}
