import { promptFacts } from '../../eval/analysis/prompt-token-and-memory-counts.ts';
import { firstDifference, hashIds } from '../../eval/run/observe/post-turn-measurements.ts';
import { retrievedMemories } from '../../eval/run/observe/write-turns.ts';
import { type DisplayTurn, turnForDisplay } from '../../viewer/turn-scores-for-display.ts';
import type { TurnObservation } from '../../store/records/turn-observation.ts';
import { scores } from '../../store/records/turn-record.ts';
import type { ChatResponse } from '../../systems/memory-system.ts';

export interface ChatTurn {
  readonly userId: string;
  readonly arm: string;
  /** From 0. */
  readonly number: number;
  readonly response: ChatResponse;
  readonly memories: number;
}

const noScores = scores.parse({
  ...Object.fromEntries(Object.keys(scores.unwrap().shape).map((name) => [name, null])),
  own: {},
  passedStages: [],
});

/**
 * Converts a turn of a chat to the form in which the inspector shows turns of a run. It is not stored, since stored turns count in
 * the tables of a run. Fields that need a data set or other arms are null.
 * @param nextTokens the likeliest tokens at the beginning of the answer
 */
export function chatTurnForDisplay(
  { userId, arm, number, response, memories }: ChatTurn,
  nextTokens: TurnObservation['nextTokens'],
): DisplayTurn {
  const { promptInfo, timings, tokens, trace } = response;
  const injected = promptInfo.segments.filter(({ origin }) => origin === 'injected');
  const promptIds = promptInfo.segments.flatMap(({ tokenIds }) => tokenIds);
  return turnForDisplay(
    {
      state: 'answered',
      itemId: `chat-${number + 1}`,
      userId,
      arm,
      repeat: 0,
      turn: number,
      position: 0,
      item: {
        query: promptInfo.originalQuery,
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
      },
      given: { retrieved: retrievedMemories(response, []), retrieval: trace.retrieval },
      prompt: promptInfo,
      facts: promptFacts(promptInfo, trace.retrieved.length),
      prefill: trace.prefill,
      account: trace.account,
      answer: trace.answer,
      timings,
      tokens,
      observed: {
        injectableMemories: injected.filter(({ memoryId }) => memoryId !== undefined).length,
        injectableTokens: injected.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
        sequenceSha256: hashIds(trace.sessionTokens),
        sequenceTokens: trace.sessionTokens.length,
        firstForeignToken: firstDifference(promptIds, trace.sessionTokens),
        goldLogProbability: null,
        goldTokens: [],
        parity: null,
        freeLogProbability: null,
        agreement: null,
        goldKl: null,
        closed: false,
        nextTokens,
      },
      scores: noScores,
    },
    'a chat has no right answer to compare with',
  );
}
