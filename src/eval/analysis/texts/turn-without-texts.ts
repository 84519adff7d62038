import { createHash } from 'node:crypto';
import { fieldsOf } from '../../../base/fields-of.ts';
import { textHash } from '../../../base/text-hash.ts';
import type { Observed } from '../../../store/records/observed.ts';
import type { PromptInfo } from '../../../store/records/prompt-info.ts';
import type { RetrievalRecord } from '../../../store/records/retrieval-record.ts';
import type { AnsweredTurn, FailedTurn, ItemRecord, TurnRecord } from '../../../store/records/turn-record.ts';
import type { AnsweredResult, TurnResult } from '../../../store/records/turn-result.ts';

/**
 * As many negative numbers as there are ids, all of them the same: a hash of the ids, which would give back the text. Equal lists
 * stay equal, and counts stay what they are.
 */
function hiddenIds(ids: readonly number[]): number[] {
  if (ids.length === 0 || isHidden(ids)) return [...ids];
  const hash = createHash('sha256').update(ids.join()).digest().readUInt32BE();
  return ids.map(() => -1 - hash);
}

/** True for ids of a text that is not there. */
export function isHidden(ids: readonly number[]): boolean {
  return ids.some((id) => id < 0);
}

function hashed(text: string | null): string | null {
  return text === null ? null : textHash(text);
}

function itemWithoutTexts(item: ItemRecord): ItemRecord {
  return {
    ...item,
    query: textHash(item.query),
    gold: hashed(item.gold),
    acceptedAnswers: item.acceptedAnswers.map(textHash),
    answerPrefix: hashed(item.answerPrefix),
  };
}

/** Reasons may quote what went wrong, and details what was asked. */
function retrievalWithoutTexts(retrieval: RetrievalRecord | null): RetrievalRecord | null {
  if (retrieval === null) return null;
  const flags = retrieval.flags.map(({ flag, reason }) => ({ flag, reason: textHash(reason) }));
  return { ...retrieval, flags, details: {} };
}

function promptWithoutTexts(prompt: PromptInfo): PromptInfo {
  return {
    ...prompt,
    originalQuery: textHash(prompt.originalQuery),
    systemPrompt: textHash(prompt.systemPrompt),
    retrievedContext: textHash(prompt.retrievedContext),
    historyText: textHash(prompt.historyText),
    historyMessages: prompt.historyMessages.map(({ role, content }) => ({ role, content: textHash(content) })),
    finalPrompt: textHash(prompt.finalPrompt),
    segments: prompt.segments.map((segment) => ({
      ...segment,
      text: textHash(segment.text),
      tokenIds: hiddenIds(segment.tokenIds),
    })),
  };
}

/** Tokens have no hash: a vocabulary is small enough to try all of it. */
function observedWithoutTexts(observed: Observed): Observed {
  return {
    ...observed,
    goldTokens: observed.goldTokens.map((term) => ({ ...term, token: '' })),
    nextTokens: observed.nextTokens.map((next) => ({ ...next, token: '' })),
  };
}

function answerWithoutTexts(answer: AnsweredTurn['answer']): AnsweredTurn['answer'] {
  const { prefix } = answer;
  return {
    ...answer,
    text: textHash(answer.text),
    tokenIds: hiddenIds(answer.tokenIds),
    ...(prefix === undefined ? {} : { prefix: textHash(prefix) }),
  };
}

function failureWithoutTexts(turn: FailedTurn): FailedTurn {
  return { ...turn, error: { ...turn.error, message: textHash(turn.error.message) } };
}

/**
 * A turn with hashes in place of its texts, and of the token ids that would give them back: ids of items, users and memories, names
 * of categories and relations, numbers and times stay.
 */
export function turnWithoutTexts<Turn extends TurnRecord>(turn: Turn): Turn;
export function turnWithoutTexts(turn: TurnRecord): TurnRecord {
  if (turn.state === 'failed') return failureWithoutTexts(turn);
  const { retrieved, retrieval, summary } = turn.given;
  return {
    ...turn,
    item: itemWithoutTexts(turn.item),
    given: {
      retrieved: retrieved.map((memory) => ({ ...memory, content: textHash(memory.content) })),
      retrieval: retrievalWithoutTexts(retrieval),
      ...(summary === undefined ? {} : { summary: textHash(summary) }),
    },
    prompt: promptWithoutTexts(turn.prompt),
    answer: answerWithoutTexts(turn.answer),
    observed: observedWithoutTexts(turn.observed),
  };
}

/** The same of the part of a turn that results are computed from. */
export function resultWithoutTexts(turn: AnsweredResult): AnsweredResult;
export function resultWithoutTexts(turn: FailedTurn): FailedTurn;
export function resultWithoutTexts(turn: TurnResult): TurnResult;
export function resultWithoutTexts(turn: TurnResult): TurnResult {
  if (turn.state === 'failed') return failureWithoutTexts(turn);
  return {
    ...fieldsOf(turn),
    item: itemWithoutTexts(turn.item),
    given: { retrieval: retrievalWithoutTexts(turn.given.retrieval) },
    answer: { text: textHash(turn.answer.text) },
  };
}
