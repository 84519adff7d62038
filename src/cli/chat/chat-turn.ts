import { promptFacts } from '../../eval/analysis/prompt-facts.ts';
import { hashIds } from '../../eval/run/observe/hash-ids.ts';
import { firstDifference } from '../../eval/run/observe/turn-observer.ts';
import { retrievedMemories } from '../../eval/run/observe/turn-writer.ts';
import { type InspectedTurn, inspectedTurn } from '../../viewer/stored-turn.ts';
import type { Observed } from '../../store/records/observed.ts';
import type { ItemRecord, Scores } from '../../store/records/turn-record.ts';
import type { ChatResponse } from '../../systems/contracts.ts';

/** A turn of a chat, and its user. */
export interface ChatTurn {
  readonly userId: string;
  readonly sessionId: string;
  readonly arm: string;
  /** From 0. */
  readonly number: number;
  readonly response: ChatResponse;
  /** The likeliest tokens at the beginning of the answer. */
  readonly nextTokens: Observed['nextTokens'];
  /** Number of memories of the user. */
  readonly memories: number;
}

/**
 * Presents a turn of a chat as the inspector shows one of a run. It is never stored as such: a turn that is stored belongs
 * to a run and counts in its tables; of a chat, the messages and the audit log are kept.
 */
export function inspectedChatTurn({ userId, arm, number, response, nextTokens, memories }: ChatTurn): InspectedTurn {
  const { promptInfo, timings, tokens, trace } = response;
  return inspectedTurn(
    {
      state: 'answered',
      itemId: `chat-${number + 1}`,
      userId,
      arm,
      repeat: 0,
      turn: number,
      position: 0,
      item: itemOf(promptInfo.originalQuery, memories),
      given: { retrieved: retrievedMemories(response, []), retrieval: trace.retrieval },
      prompt: promptInfo,
      facts: promptFacts(promptInfo, trace.retrieved.length),
      prefill: trace.prefill,
      account: trace.account,
      answer: trace.answer,
      timings,
      tokens,
      observed: { ...observedOf(response), nextTokens },
      scores: unscored,
    },
    'a chat has no right answer to compare with',
  );
}

/** Scores of an answer that nothing can be compared with. */
const unscored: Scores = {
  exactMatch: null,
  contains: null,
  tokenF1: null,
  memoryRecall: null,
  locomoF1: null,
  rougeL: null,
  bleu: null,
  abstention: null,
  taskSuccess: null,
  wrongClass: null,
  failedStage: null,
  passedStages: [],
  evidenceRank: null,
};

/** A question that is from no data set. */
function itemOf(query: string, memories: number): ItemRecord {
  return {
    query,
    gold: null,
    acceptedAnswers: [],
    relation: null,
    answerPrefix: null,
    category: 'chat',
    phrasing: '',
    userKind: '',
    language: 'en',
    memories,
    evidence: 0,
    evidencePlace: null,
    condition: null,
  };
}

/** Observations of a turn, without those that need a gold answer or other arms. */
function observedOf({ promptInfo: { segments }, trace }: ChatResponse): Omit<Observed, 'nextTokens'> {
  const injected = segments.filter(({ origin }) => origin === 'injected');
  const own = segments.flatMap(({ tokenIds }) => tokenIds);
  return {
    injectableMemories: injected.filter(({ memoryId }) => memoryId !== undefined).length,
    injectableTokens: injected.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
    sequenceSha256: hashIds(trace.sessionTokens),
    sequenceTokens: trace.sessionTokens.length,
    firstForeignToken: firstDifference(own, trace.sessionTokens),
    goldLogProbability: null,
    goldTokens: [],
    parity: null,
    freeLogProbability: null,
    agreement: null,
    goldKl: null,
    closed: false,
  };
}
