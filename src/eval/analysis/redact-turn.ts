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

/** Hashes the named texts and lists of texts of a record; null and missing ones stay. */
function hashed<Part extends object>(part: Part, ...names: readonly (keyof Part & string)[]): Part {
  const hash = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(hash);
    return typeof value === 'string' ? privateTextHash(value) : value;
  };
  const given = names.filter((name) => name in part);
  return { ...part, ...Object.fromEntries(given.map((name) => [name, hash(part[name])])) };
}

const redactItem = (item: ItemRecord): ItemRecord =>
  hashed(item, 'query', 'gold', 'acceptedAnswers', 'nuggets', 'answerPrefix');

/** Hashes reasons, which may quote an error, and drops details, which may quote the question. */
function redactRetrieval(retrieval: RetrievalRecord | null): RetrievalRecord | null {
  if (retrieval === null) return null;
  const flags = retrieval.flags.map(({ flag, reason }) => ({ flag, reason: privateTextHash(reason) }));
  return { ...retrieval, flags, details: {} };
}

function redactPrompt(prompt: PromptInfo): PromptInfo {
  return {
    ...hashed(prompt, 'originalQuery', 'systemPrompt', 'retrievedContext', 'historyText', 'finalPrompt'),
    historyMessages: prompt.historyMessages.map(({ role, content }) => ({ role, content: privateTextHash(content) })),
    segments: prompt.segments.map((segment) => ({
      ...hashed(segment, 'text'),
      tokenIds: redactIds(segment.tokenIds),
    })),
  };
}

function redactFailure(turn: FailedTurn): FailedTurn {
  return { ...turn, error: hashed(turn.error, 'message') };
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
      ...hashed(given, 'summary'),
      retrieved: given.retrieved.map((memory) => hashed(memory, 'content')),
      retrieval: redactRetrieval(given.retrieval),
    },
    prompt: redactPrompt(turn.prompt),
    answer: { ...hashed(answer, 'text', 'prefix'), tokenIds: redactIds(answer.tokenIds) },
    // Tokens are dropped, not hashed: a reader could hash the whole vocabulary and compare.
    observed: {
      ...hashed(observed, 'retrieverQuery'),
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
