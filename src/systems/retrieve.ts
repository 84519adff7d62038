import { BenchError } from '../base/bench-error.ts';
import type { ArmTraits } from '../store/records/arm-traits.ts';
import type { MemorySearchResult } from '../retrieval/retriever.ts';
import { type ChatRequest, nothingRetrieved, type RetrievedMemories } from './contracts.ts';
import type { MemoryKeeper } from './memory-keeper.ts';
import type { PromptRules } from './prompt/build-prompt.ts';
import { chronological, isPreference } from './prompt/select.ts';

/** Settings of a system's own retrieval. */
export interface RetrievalSettings {
  readonly memories: MemoryKeeper;
  readonly retrieves: ArmTraits['retrieves'];
  readonly topK: number;
  readonly threshold: number;
  /** Puts all preferences of the user in front of what is retrieved. Default false. */
  readonly preferencesOnly?: boolean;
}

/**
 * The memories of a turn: those that the request brings, else those that the system retrieves for itself.
 * @throws BenchError `bad-option` where only a data set knows them: the evidence, another user's memories
 */
export async function retrieveFor(
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
      return memories.retrieve(query, { topK: topK ?? settings.topK, threshold, ...user, history });
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

/**
 * The texts that the prompt of a turn may show: the memories, or the records of the retriever's own summary.
 * @throws BenchError `bad-option` where a summary is to be shown and the retriever made none
 */
export function shownMemories(
  { memories, summary }: RetrievedMemories,
  { memoriesAs = 'lines' }: Pick<PromptRules, 'memoriesAs'>,
): readonly MemorySearchResult[] {
  if (memoriesAs === 'lines') return memories;
  if (summary !== undefined) return summary.records;
  // An empty query: nothing was retrieved, and there is nothing to sum up.
  if (memories.length === 0) return memories;
  const message = 'an arm that shows the summary of its retriever was given memories without one';
  throw new BenchError('bad-option', message, 'add --retriever tiered, or choose another arm, such as rag');
}

/** All memories, the newest first, so that a budget drops the oldest. */
function newestFirst(all: () => readonly MemorySearchResult[]): RetrievedMemories {
  const start = performance.now();
  const memories = chronological(all()).reverse();
  return { memories, elapsedMs: performance.now() - start, record: null };
}

/** All memories of one question that an arm may be given. */
export interface MemorySources {
  /** From the retriever, once for all arms. */
  readonly retrieved: RetrievedMemories;
  /** All memories that the user has at that time. */
  readonly all: readonly MemorySearchResult[];
  /** Those of `all` that are the user's preferences. */
  readonly preferences: readonly MemorySearchResult[];
  /** The memories that answer it. */
  readonly evidence: readonly MemorySearchResult[];
  /** Another user's memories in place of those retrieved. */
  readonly donated: readonly MemorySearchResult[];
}

/** The memories that an arm is given by its traits, as its request carries them. */
export function givenMemories(
  { retrieves, injects }: Pick<ArmTraits, 'retrieves' | 'injects'>,
  { retrieved, all, preferences, evidence, donated }: MemorySources,
): Pick<ChatRequest, 'retrieved' | 'preferences'> {
  const sources: Readonly<Record<ArmTraits['retrieves'], () => RetrievedMemories>> = {
    nothing: () => nothingRetrieved,
    retrieved: () => retrieved,
    evidence: () => ({ memories: evidence, elapsedMs: 0, record: null }),
    all: () => newestFirst(() => all),
    donor: () => ({ memories: donated, elapsedMs: retrieved.elapsedMs, record: null }),
  };
  const given = { retrieved: sources[retrieves]() };
  return injects === 'preferences' ? { ...given, preferences } : given;
}
