import type { BuiltPrompt } from '../prompt/build-prompt.ts';
import { prefillAsText, type Prefilled, type PrefillStrategy, type TurnContext } from './prefill-strategy.ts';

/** The whole prompt as text, evaluated from the first token in every turn. */
export class TextPrefill implements PrefillStrategy {
  prefill({ tokenIds }: BuiltPrompt, { session }: TurnContext): Promise<Prefilled> {
    return prefillAsText(session, tokenIds);
  }

  /** Text keeps no KV. */
  forget(): Promise<number> {
    return Promise.resolve(0);
  }

  /** Text keeps no KV. */
  async reset(): Promise<void> {
    // Nothing to delete.
  }

  stats(): null {
    return null;
  }

  /** Text holds no memory. */
  async dispose(): Promise<void> {
    // Nothing to give back.
  }
}
