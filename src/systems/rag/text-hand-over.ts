import type { ModelSequence } from '../../llm/model-sequence.ts';
import { answerAsText, type HandOver, type HandOverRequest, type HandOverResult } from '../hand-over.ts';

/** The whole prompt as text, evaluated from the first token in every turn. */
export class TextHandOver implements HandOver {
  readonly sequence: ModelSequence;
  #last: readonly number[] = [];

  constructor(sequence: ModelSequence) {
    this.sequence = sequence;
  }

  answer({ prompt, limits }: HandOverRequest): Promise<HandOverResult> {
    this.#last = prompt.tokenIds;
    return answerAsText(this.sequence, prompt.tokenIds, limits);
  }

  async replay(sequence: ModelSequence): Promise<readonly number[]> {
    await sequence.clear();
    return this.#last;
  }

  forget(): void {
    // Text leaves no K/V behind: the ids go with the next turn.
  }

  forgetLastTurn(): void {
    this.#last = [];
  }

  reset(): void {
    this.forgetLastTurn();
  }
}
