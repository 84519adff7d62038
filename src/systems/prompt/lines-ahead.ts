import type { TokenId } from '../../engine/token-id.ts';
import type { PromptForm } from './prompt-form.ts';
import type { PromptTokenizer } from './prompt-tokenizer.ts';
import { type LabelStyle, memorySegment } from './segments.ts';

/** A memory that later prompts may show. */
export interface MemoryText {
  readonly memoryId: string;
  readonly content: string;
}

/** A memory line of a prompt, tokenised alone. */
export interface MemoryLine {
  readonly memoryId: string;
  readonly tokenIds: readonly TokenId[];
}

/** Memory lines of prompts to come, and the header in front of them. */
export interface LinesAhead {
  readonly header: readonly TokenId[];
  readonly lines: readonly MemoryLine[];
}

/** The prompts in which memories may stand later. */
export interface LinesAheadOptions {
  readonly form: PromptForm;
  readonly systemPrompt: string;
  readonly labels: LabelStyle;
  /** Places of a prompt, from 1: with numbered labels a memory has one line a place. */
  readonly places: number;
  readonly windowTokens: number;
}

/** Tokenises the lines as which memories may stand in later prompts. A line that no window holds is left out. */
export function linesAhead(
  memories: readonly MemoryText[],
  { form, systemPrompt, labels, places, windowTokens }: LinesAheadOptions,
  tokenizer: PromptTokenizer,
): Promise<LinesAhead> {
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
    const fits = (tokenIds: readonly TokenId[]): boolean => header.length + tokenIds.length < windowTokens;
    return {
      header,
      lines: segments.flatMap(({ memoryId, tokenIds }) =>
        memoryId !== undefined && fits(tokenIds) ? [{ memoryId, tokenIds }] : [],
      ),
    };
  });
}
