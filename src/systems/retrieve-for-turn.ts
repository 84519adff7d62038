import { BenchError } from '../base/bench-error.ts';
import type { ArmTraits } from '../store/records/arm-traits.ts';
import { newestFirst } from './memories-for-arm.ts';
import type { MemoryKeeper } from './memory-keeper.ts';
import { type ChatRequest, nothingRetrieved, type RetrievedMemories } from './memory-system.ts';
import { isPreference } from './prompt/order-memories.ts';

/** Settings of a system's own retrieval. */
export interface RetrievalSettings {
  readonly memories: MemoryKeeper;
  readonly retrieves: ArmTraits['retrieves'];
  readonly topK: number;
  readonly threshold: number;
  /** Puts all preferences of the user in front of what is retrieved. Default false. */
  readonly preferencesOnly?: boolean;
}

/** The memories of a request, else those that the system retrieves. @throws BenchError `bad-option` if only data know */
export async function retrieveForTurn(
  request: ChatRequest,
  settings: RetrievalSettings,
  history: NonNullable<ChatRequest['history']>,
): Promise<RetrievedMemories> {
  const { userId, preferences } = request;
  const retrieved = request.retrieved ?? (await retrieveOwn(request, settings, history));
  if (settings.preferencesOnly !== true) return retrieved;
  const start = performance.now();
  const others = retrieved.memories.filter((memory) => !isPreference(memory));
  const memories = [...(preferences ?? settings.memories.preferences(userId ?? '')), ...others];
  return { memories, elapsedMs: retrieved.elapsedMs + performance.now() - start, record: retrieved.record };
}

async function retrieveOwn(
  { query, userId, topK }: ChatRequest,
  settings: RetrievalSettings,
  history: NonNullable<ChatRequest['history']>,
): Promise<RetrievedMemories> {
  const { memories, retrieves, threshold } = settings;
  switch (retrieves) {
    case 'nothing':
      return nothingRetrieved;
    case 'retrieved': {
      const user = userId === undefined ? {} : { userId };
      return memories.retrieveStored(query, { topK: topK ?? settings.topK, threshold, ...user, history });
    }
    case 'all':
      return newestFirst(() => memories.all(userId ?? ''));
    default:
      throw new BenchError(
        'bad-option',
        `an arm that is given ${retrieves === 'evidence' ? 'the evidence' : "another user's memories"} cannot retrieve them itself`,
        'give them with the request, or choose another arm, such as rag',
      );
  }
}
