import type { MemoryLines } from './build-prompt.ts';
import { type PromptForm } from './prompt-form.ts';
import { type LabelStyle, memorySegment } from './memory-lines.ts';
import type { PromptTokenizer } from './prompt-tokenizer.ts';

export interface MemoryText {
  readonly memoryId: string;
  readonly content: string;
}

export interface FuturePrompts {
  readonly form: PromptForm;
  readonly systemPrompt: string;
  readonly labels: LabelStyle;
  /** Places of a prompt, from 1: with numbered labels a memory has one line a place. */
  readonly places: number;
  readonly windowTokens: number;
}

/** Tokenises the lines that memories may be in later prompts. A line longer than the window is left out. */
export function precomputedLines(
  memories: readonly MemoryText[],
  { form, systemPrompt, labels, places, windowTokens }: FuturePrompts,
  tokenizer: PromptTokenizer,
): Promise<MemoryLines> {
  const labelled = Array.from({ length: labels === 'bullet' ? 1 : places }, (_, index) => index + 1);
  const lines = memories.flatMap(({ memoryId, content }) =>
    labelled.map((place) => memorySegment(memoryId, content, place, labels)),
  );
  return tokenizer.settle(() => {
    const segments = tokenizer.tokenize(
      form.segments({ systemPrompt, lines, history: [], query: '', answerPrefix: '' }),
    );
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
