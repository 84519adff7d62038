import { createHash } from 'node:crypto';
import { privateTextHash } from '../../base/private-text-hash.ts';
import type { PromptInfo } from '../../store/records/prompt-info.ts';
import type {
  AnsweredResult,
  FailedTurn,
  ItemRecord,
  RetrievalRecord,
  TurnRecord,
} from '../../store/records/turn-record.ts';

/** Replaces ids, which could be decoded, by copies of one negative hash of the list, so that equal lists stay equal. */
function redactIds(ids: readonly number[]): number[] {
  if (ids.length === 0 || isRedacted(ids)) return [...ids];
  const hash = createHash('sha256').update(ids.join()).digest().readUInt32BE();
  return ids.map(() => -1 - hash);
}

/** True for the ids of a redacted text, which are negative. */
export function isRedacted(ids: readonly number[]): boolean {
  return ids.some((id) => id < 0);
}

function redactItem(item: ItemRecord): ItemRecord {
  const { query, gold, acceptedAnswers, nuggets, answerPrefix } = item;
  return {
    ...item,
    query: privateTextHash(query),
    gold: gold === null ? null : privateTextHash(gold),
    acceptedAnswers: acceptedAnswers.map(privateTextHash),
    ...(nuggets === undefined ? {} : { nuggets: nuggets.map(privateTextHash) }),
    answerPrefix: answerPrefix === null ? null : privateTextHash(answerPrefix),
  };
}

/** Hashes reasons, which may quote an error, and drops details, which may quote the question. */
function redactRetrieval(retrieval: RetrievalRecord | null): RetrievalRecord | null {
  if (retrieval === null) return null;
  const flags = retrieval.flags.map(({ flag, reason }) => ({ flag, reason: privateTextHash(reason) }));
  return { ...retrieval, flags, details: {} };
}

function redactPrompt(prompt: PromptInfo): PromptInfo {
  return {
    ...prompt,
    originalQuery: privateTextHash(prompt.originalQuery),
    systemPrompt: privateTextHash(prompt.systemPrompt),
    retrievedContext: privateTextHash(prompt.retrievedContext),
    historyText: privateTextHash(prompt.historyText),
    historyMessages: prompt.historyMessages.map(({ role, content }) => ({ role, content: privateTextHash(content) })),
    finalPrompt: privateTextHash(prompt.finalPrompt),
    segments: prompt.segments.map((segment) => ({
      ...segment,
      text: privateTextHash(segment.text),
      tokenIds: redactIds(segment.tokenIds),
    })),
  };
}

function redactFailure(turn: FailedTurn): FailedTurn {
  return { ...turn, error: { ...turn.error, message: privateTextHash(turn.error.message) } };
}

/** Replaces all texts of a turn, and their token ids, by hashes; other ids, names and numbers stay. */
export function redactTurn<Turn extends TurnRecord>(turn: Turn): Turn;
export function redactTurn(turn: TurnRecord): TurnRecord {
  if (turn.state === 'failed') return redactFailure(turn);
  const { given, answer, observed } = turn;
  return {
    ...turn,
    item: redactItem(turn.item),
    given: {
      retrieved: given.retrieved.map((memory) => ({ ...memory, content: privateTextHash(memory.content) })),
      retrieval: redactRetrieval(given.retrieval),
      ...(given.summary === undefined ? {} : { summary: privateTextHash(given.summary) }),
    },
    prompt: redactPrompt(turn.prompt),
    answer: {
      ...answer,
      text: privateTextHash(answer.text),
      tokenIds: redactIds(answer.tokenIds),
      ...(answer.prefix === undefined ? {} : { prefix: privateTextHash(answer.prefix) }),
    },
    // Tokens are dropped, not hashed: a reader could hash the whole vocabulary and compare.
    observed: {
      ...observed,
      ...(observed.retrieverQuery === undefined ? {} : { retrieverQuery: privateTextHash(observed.retrieverQuery) }),
      goldTokens: observed.goldTokens.map((term) => ({ ...term, token: '' })),
      nextTokens: observed.nextTokens.map((next) => ({ ...next, token: '' })),
    },
  };
}

/** As `redactTurn`, for the part of a turn that results are computed from. */
export function redactResult<Turn extends AnsweredResult | FailedTurn>(turn: Turn): Turn;
export function redactResult(turn: AnsweredResult | FailedTurn): AnsweredResult | FailedTurn {
  if (turn.state === 'failed') return redactFailure(turn);
  return {
    ...turn,
    item: redactItem(turn.item),
    given: { retrieval: redactRetrieval(turn.given.retrieval) },
    answer: { text: privateTextHash(turn.answer.text) },
  };
}
