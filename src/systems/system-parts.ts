import type { Engine } from '../engine/engine.ts';
import type { EngineSession } from '../engine/engine-session.ts';
import type { KvTools } from '../kv/kv-tools.ts';
import type { ConversationLog } from './conversation-log.ts';
import type { MemoryKeeper } from './memory-keeper.ts';
import type { PromptRules } from './prompt/build-prompt.ts';

/** An engine, and the session that a system answers in. */
export interface OpenEngine {
  readonly engine: Engine;
  readonly session: EngineSession;
}

/** The parts that all systems share, so that nothing but retrieval and prefill strategy differs between them. */
export interface SystemParts {
  /**
   * Called at the first turn, so that retrieval works without a model. Engine and session stay the caller's: a system
   * closes neither.
   */
  readonly open: () => Promise<OpenEngine>;
  readonly memories: MemoryKeeper;
  /** Joins, keys and keeps KV. Default: the functions of the KV layer. */
  readonly kv?: KvTools;
  /** Null where somebody else writes down what was said. */
  readonly log: ConversationLog | null;
  readonly rules: Omit<PromptRules, 'windowTokens'>;
  readonly topK: number;
  /** Memories that score lower are not retrieved; −1 retrieves all. */
  readonly threshold: number;
  /** Receives warnings, such as "kept 20/50 history messages". */
  readonly warn: (message: string) => void;
}
