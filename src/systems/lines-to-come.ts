import type { LinesToCome } from './hand-over.ts';
import type { PromptForm } from './prompt/prompt-form.ts';
import type { PromptTokenizer } from './prompt/prompt-tokenizer.ts';
import { type LabelStyle, memorySegment } from './prompt/segments.ts';

/** A memory that prompts may show. */
export interface MemoryToCome {
  readonly memoryId: string;
  readonly content: string;
}

/**
 * The lines as which memories may stand in a prompt: one of each where labels do not depend on the place, else one for
 * every place. A line that no window holds is left out.
 * @param places of a prompt, from 1
 */
export function linesToCome(
  memories: readonly MemoryToCome[],
  {
    form,
    systemPrompt,
    labels,
  }: { readonly form: PromptForm; readonly systemPrompt: string; readonly labels: LabelStyle },
  places: number,
  windowTokens: number,
  tokenizer: PromptTokenizer,
): LinesToCome {
  const labelled = Array.from({ length: labels === 'bullet' ? 1 : places }, (_, index) => index + 1);
  const lines = memories.flatMap(({ memoryId, content }) =>
    labelled.map((place) => memorySegment(memoryId, content, place, labels)),
  );
  const segments = tokenizer.tokenize(form.segments({ systemPrompt, lines, history: [], query: '' }));
  const first = segments.findIndex(({ memoryId }) => memoryId !== undefined);
  const headerIds = segments.slice(0, first).flatMap(({ tokenIds }) => tokenIds);
  const fits = (tokenIds: readonly number[]): boolean => headerIds.length + tokenIds.length < windowTokens;
  return {
    header: headerIds,
    lines: segments.flatMap(({ memoryId, tokenIds }) =>
      memoryId !== undefined && fits(tokenIds) ? [{ memoryId, tokenIds }] : [],
    ),
  };
}
