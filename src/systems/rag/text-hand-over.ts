import type { ModelSequence } from '../../llm/model-sequence.ts';
import type { HandOver, HandOverRequest, HandOverResult } from '../hand-over.ts';

/** The whole prompt as text, evaluated from the first token in every turn. */
export class TextHandOver implements HandOver {
  readonly sequence: ModelSequence;
  #last: readonly number[] = [];

  constructor(sequence: ModelSequence) {
    this.sequence = sequence;
  }

  async answer({ prompt, limits }: HandOverRequest): Promise<HandOverResult> {
    this.#last = prompt.tokenIds;
    await this.sequence.clear();
    return {
      generation: await this.sequence.generate(prompt.tokenIds, limits),
      kvLoadMs: 0,
      kvComputeMs: 0,
      keepMs: 0,
      residentTokens: 0,
      expectedEvaluatedTokens: prompt.tokenIds.length,
      reuse: 'none',
      details: {},
    };
  }

  async replay(sequence: ModelSequence): Promise<readonly number[]> {
    await sequence.clear();
    return this.#last;
  }

  reset(): void {
    this.#last = [];
  }
}
