import type { DatasetItem, DatasetMemory, DatasetUser } from '../../../data/dataset.ts';
import type { BenchDatabase } from '../../../store/database.ts';
import type { TurnObservation } from '../../../store/records/turn-observation.ts';
import type { AnsweredTurn, ItemRecord, Scores, TurnKey, TurnRecord } from '../../../store/records/turn-record.ts';
import { TurnRepository } from '../../../store/turn-repository.ts';
import type { Arm } from '../../../systems/arms/arm-registry.ts';
import type { ChatRequest, ChatResponse } from '../../../systems/memory-system.ts';
import type { ConversationLog } from '../../../systems/conversation-log.ts';
import type { MetricDefinition } from '../../analysis/metrics/built-in-metrics.ts';
import type { SuccessRule } from '../../analysis/metrics/score-turn.ts';
import { checkedValue } from '../../analysis/metrics/metric-selection.ts';
import { promptFacts } from '../../analysis/prompt-token-and-memory-counts.ts';
import { redactTurn } from '../../analysis/redact-turn.ts';
import type { Claims } from '../workers/claims.ts';
import { TokenPieceRepository } from '../../../store/token-piece-repository.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import type { PromptSegment } from '../../../store/records/prompt-info.ts';

interface ObservedResponse {
  readonly response: ChatResponse;
  readonly scores: Scores;
  readonly observed: TurnObservation;
}

export type TurnOutcome =
  | (ObservedResponse & { readonly arm: Arm; readonly request: ChatRequest })
  | { readonly arm: Arm; readonly error: unknown };

export interface WriterParts {
  readonly runId: string;
  readonly database: BenchDatabase;
  readonly claims: Pick<Claims, 'put'>;
  readonly log: ConversationLog;
  readonly pieces: ReturnType<typeof tokenPieces>;
  readonly metrics: readonly MetricDefinition[];
  readonly success: SuccessRule;
  /** If false, stores hashes instead of texts, and no token ids. */
  readonly storesTexts: boolean;
}

export function turnSessionId(runId: string, item: DatasetItem, arm: Arm, repeat: number): string {
  return `${runId}/${item.conversation ?? item.itemId}/${arm.traits.name}/${repeat}`;
}

/** Writes the turns of an item, each in one transaction. @param outcomes of all arms, in the order in which they ran */
export async function writeTurns(
  parts: WriterParts,
  asked: { user: DatasetUser; item: DatasetItem; memories: readonly DatasetMemory[]; repeat: number },
  outcomes: readonly TurnOutcome[],
): Promise<void> {
  const { claims, database, log, pieces, runId, storesTexts } = parts;
  const { user, item, memories, repeat } = asked;
  const { userId } = user;
  const turns = new TurnRepository(database);
  for (const [position, outcome] of outcomes.entries()) {
    const { arm } = outcome;
    const sessionId = turnSessionId(runId, item, arm, repeat);
    const key: TurnKey = { itemId: item.itemId, userId, arm: arm.traits.name, repeat, turn: 0, position };
    const record = turnRecord(key, itemRecord(user, item, memories), item, outcome);
    const turn = record.state === 'answered' ? withOwnMetrics(parts, record) : record;
    const shows = storesTexts && turn.state === 'answered';
    const missing = shows ? await pieces.missing(turn.prompt.segments) : new Map();
    // The turn, its messages and its entry in the audit log are stored together or not at all.
    claims.put(userId, () => {
      log.seed(sessionId, userId, item.history);
      if ('response' in outcome) {
        const action = arm.traits.injects === 'nothing' ? 'rag_generate' : 'dki_generate';
        log.record(outcome.request, outcome.response, action);
      }
      pieces.keep(missing);
      turns.put({ runId, sessionId }, storesTexts ? turn : redactTurn(turn));
    });
  }
}

function turnRecord(key: TurnKey, record: ItemRecord, { evidence }: DatasetItem, outcome: TurnOutcome): TurnRecord {
  if ('error' in outcome) {
    const { error } = outcome;
    const message = error instanceof Error ? error.message : String(error);
    const { code } = error as { readonly code?: unknown };
    return { state: 'failed', ...key, error: { code: typeof code === 'string' ? code : null, message } };
  }
  return answeredTurn(key, record, evidence, outcome);
}

/** The record of an answer. @param evidence ids of the memories that answer the question */
export function answeredTurn(
  key: TurnKey,
  item: ItemRecord,
  evidence: readonly string[],
  { response, scores, observed }: ObservedResponse,
): AnsweredTurn {
  const { trace, promptInfo: prompt, timings, tokens } = response;
  const { retrieval, summary, prefill, account, answer } = trace;
  const given = { retrieved: retrievedMemories(response, evidence), retrieval };
  return {
    state: 'answered',
    ...key,
    item,
    given: summary === undefined ? given : { ...given, summary },
    prompt,
    facts: promptFacts(prompt, trace.retrieved.length),
    prefill,
    account,
    answer,
    timings,
    tokens,
    observed,
    scores,
  };
}

/** Adds the values of the calling program's metrics. One of them may decide task success. */
function withOwnMetrics({ metrics, success }: WriterParts, turn: AnsweredTurn): AnsweredTurn {
  if (metrics.length === 0) return turn;
  const own = Object.fromEntries(metrics.map((metric) => [metric.name, checkedValue(metric, metric.of(turn))]));
  const decided = turn.item.gold === null ? undefined : own[success.metric];
  const scores = { ...turn.scores, own };
  if (decided === undefined) return { ...turn, scores };
  const wrongClass = decided === 1 ? null : scores.wrongClass;
  return { ...turn, scores: { ...scores, taskSuccess: decided, wrongClass } };
}

function itemRecord({ kind, languageProfile }: DatasetUser, item: DatasetItem, memories: readonly DatasetMemory[]) {
  const first = memories.findIndex(({ memoryId }) => item.evidence.includes(memoryId));
  return {
    query: item.query,
    gold: item.answer,
    acceptedAnswers: item.acceptedAnswers,
    ...(item.nuggets === undefined ? {} : { nuggets: item.nuggets }),
    relation: item.relation ?? null,
    answerPrefix: item.answerPrefix ?? null,
    category: item.category,
    phrasing: item.phrasing ?? '',
    userKind: kind ?? '',
    language: item.language ?? languageProfile.language,
    memories: memories.length,
    evidence: item.evidence.length,
    superseded: item.superseded.length,
    evidencePlace: first === -1 ? null : memories.length === 1 ? 0 : first / (memories.length - 1),
    condition: item.condition ?? null,
  };
}

/** The memories retrieved for a turn, best first. @param evidence ids of the memories that answer it */
function retrievedMemories({ memoriesUsed, trace }: ChatResponse, evidence: readonly string[]) {
  const used = new Set(memoriesUsed.map(({ memoryId }) => memoryId));
  return trace.retrieved.map(({ memoryId, content, score }, rank) => ({
    memoryId,
    content,
    score,
    rank: rank + 1,
    kept: used.has(memoryId),
    evidence: evidence.includes(memoryId),
  }));
}

/** Stores the text of each prompt token once, so that tokens can be shown without the model. */
export function tokenPieces(engine: Pick<Engine, 'detokenize' | 'info'>, database: BenchDatabase) {
  const repository = new TokenPieceRepository(database);
  /** Ids already stored. If their transaction fails, the run ends, and stores them again when it is resumed. */
  const kept = new Set<TokenId>();
  return {
    missing: async (segments: readonly Pick<PromptSegment, 'tokenIds'>[]): Promise<ReadonlyMap<TokenId, string>> => {
      const ids = [...new Set(segments.flatMap(({ tokenIds }) => tokenIds))].filter((id) => !kept.has(id));
      const texts = await engine.detokenize(ids.map((id) => [id]));
      return new Map(ids.map((id, index) => [id, texts[index]!]));
    },
    keep: (pieces: ReadonlyMap<TokenId, string>): void => {
      if (pieces.size === 0) return;
      repository.add(engine.info.modelSha256 ?? engine.info.model.name, pieces);
      for (const id of pieces.keys()) kept.add(id);
    },
  };
}
