import type { TurnRow } from '../../db/schema.ts';
import { hashOfIds, firstDifference, type TurnEvidence } from '../../eval/run/turn-evidence.ts';
import { describeMemories } from '../../eval/run/turn-writer.ts';
import { promptFacts, type StoredScores } from '../../eval/stored-turn.ts';
import { type InspectedTurn, inspectedTurn } from '../../inspect/stored-turn.ts';
import type { RetrievalRecord } from '../../systems/recall.ts';
import type { ChatResponse } from '../../systems/contracts.ts';

/** A turn of a chat, and whose it was. */
export interface ChatTurn {
  readonly userId: string;
  readonly sessionId: string;
  readonly arm: string;
  /** From 0. */
  readonly number: number;
  readonly response: ChatResponse;
  /** What came next to the model at the beginning of the answer. */
  readonly nextTokens: TurnEvidence['nextTokens'];
  /** Memories that the user had. */
  readonly memories: number;
}

/**
 * A turn of a chat as the inspector shows one of a run. It is never stored as such: a row of `turns` belongs to a run, and
 * counts in its tables; of a chat, the messages and the audit log are kept.
 */
export function inspectedChatTurn(turn: ChatTurn): InspectedTurn {
  const { userId, sessionId, arm, number, response } = turn;
  const row: TurnRow = {
    id: 0,
    runId: '',
    itemId: `chat-${number + 1}`,
    userId,
    arm,
    repeat: 0,
    turn: number,
    position: 0,
    sessionId,
    promptInfo: response.promptInfo,
    timings: response.timings,
    tokens: response.tokens,
    scores: scoresOf(turn),
    memories: describeMemories(response, []),
    kv: response.metadata['kv'] ?? null,
    answer: response.text,
    error: null,
    createdAt: 0,
  };
  return inspectedTurn(row, 'a chat has no right answer to compare with');
}

interface ChatEvidence {
  readonly evidence: Omit<TurnEvidence, 'closed'>;
}

/** Without what only a gold answer can tell. */
function scoresOf({ response, nextTokens, memories }: ChatTurn): Omit<StoredScores, 'evidence'> & ChatEvidence {
  const { metadata, promptInfo } = response;
  const nothing = { exactMatch: null, tokenF1: null, memoryRecall: null, rougeL: null, bleu: null, abstention: null };
  return {
    ...nothing,
    taskSuccess: null,
    wrongClass: null,
    failedStage: null,
    passedStages: [],
    recallRank: null,
    evidence: { ...evidenceOf(response), nextTokens },
    item: {
      ...{ gold: null, category: 'chat', phrasing: '', userKind: '', memories, evidence: 0 },
      ...{ evidencePlace: null, condition: null },
    },
    prompt: promptFacts(promptInfo, (metadata['recalled'] as readonly unknown[]).length),
    retrieval: metadata['retrieval'] as RetrievalRecord | null,
  };
}

function evidenceOf({ metadata, promptInfo }: ChatResponse): Omit<TurnEvidence, 'nextTokens' | 'closed'> {
  type Account = Pick<TurnEvidence, 'reuse' | 'builtTokens' | 'linkTokens' | 'gateTokens' | 'sharesPositions'>;
  const { reuse, builtTokens, linkTokens, gateTokens, sharesPositions } = metadata as unknown as Account;
  const injected = promptInfo.segments.filter(({ origin }) => origin === 'injected');
  const readBack = metadata['sequenceTokenIds'] as readonly number[];
  const own = promptInfo.segments.flatMap(({ tokenIds }) => tokenIds);
  return {
    ...{ reuse, builtTokens, linkTokens, gateTokens, sharesPositions },
    injectableMemories: injected.filter(({ memoryId }) => memoryId !== undefined).length,
    injectableTokens: injected.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
    expectedEvaluatedTokens: metadata['expectedEvaluatedTokens'] as number,
    sequenceSha256: hashOfIds(readBack),
    sequenceTokens: readBack.length,
    firstForeignToken: firstDifference(own, readBack),
    ...{ goldLogProbability: null, parity: null, freeLogProbability: null, agreement: null },
  };
}
