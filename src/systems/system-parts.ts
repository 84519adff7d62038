import type { LanguageModel } from '../llm/language-model.ts';
import type { ConversationLog } from './conversation-log.ts';
import type { MemoryKeeper } from './memory-keeper.ts';
import type { PromptRules } from './prompt/build-prompt.ts';
import type { Recall } from './recall.ts';

/** What two systems share, so that nothing else differs between them. */
export interface SystemParts {
  /** Asked for at the first turn (seed 004 §9: the model is created when it is needed). */
  readonly model: () => Promise<LanguageModel>;
  readonly memories: MemoryKeeper;
  readonly log: ConversationLog;
  /** Default: the keeper's own search. */
  readonly recall?: Recall;
  readonly rules: Omit<PromptRules, 'windowTokens'>;
  readonly topK: number;
  /** Memories that score lower are not recalled; −1 recalls all. */
  readonly threshold: number;
  /** Where warnings go, such as "kept 20/50 history messages". */
  readonly warn: (message: string) => void;
}
