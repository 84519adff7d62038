import type { BenchDatabase } from '../../db/database.ts';
import { TurnRepository } from '../../db/turn-repository.ts';
import type { MemorySearchResult } from '../../memory/memory-search-result.ts';
import type { ChatResponse } from '../../systems/contracts.ts';
import type { RetrievalRecord } from '../../systems/recall.ts';
import type { DatabaseConversationLog, TurnRecord } from '../../systems/conversation-log.ts';
import type { DatasetItem, DatasetUser } from '../dataset/dataset.ts';
import { agreementOf, type Agreement } from '../metrics/agreement.ts';
import type { Scores } from '../metrics/scores.ts';
import { type ItemSummary, promptFacts, type StoredScores } from '../stored-turn.ts';
import type { Arm } from './arms.ts';
import type { ItemStage } from './item-stage.ts';
import type { SequencePieces } from './sequence-pieces.ts';
import type { ProvenTurn } from './turn-proof.ts';

interface TurnTaken {
  readonly arm: Arm;
  /** What the system recorded; undefined where it failed before. */
  readonly record: TurnRecord | undefined;
}

/** A turn before it is written: answered and proven, or failed. */
export type TurnOutcome =
  | (TurnTaken & { readonly response: ChatResponse; readonly scores: Scores; readonly proven: ProvenTurn })
  | (TurnTaken & { readonly error: string });

/** What writing a turn needs of a run. */
export interface WriterBench {
  readonly runId: string;
  readonly database: BenchDatabase;
  readonly log: DatabaseConversationLog;
  readonly stage: ItemStage;
  readonly pieces: SequencePieces;
  readonly mixesLanguages: boolean;
}

/** A conversation is one session; any other question has its own. */
export function sessionIdOf(runId: string, item: DatasetItem, arm: Arm, repeat: number): string {
  return `${runId}/${item.conversation ?? item.itemId}/${arm.name}/${repeat}`;
}

/** Writes the turns of one user, each in one transaction. */
export class TurnWriter {
  readonly #bench: WriterBench;
  readonly #turns: TurnRepository;
  readonly #user: DatasetUser;

  constructor(bench: WriterBench, user: DatasetUser) {
    this.#bench = bench;
    this.#turns = new TurnRepository(bench.database);
    this.#user = user;
  }

  /** @param outcomes of all arms on the item, in the order in which they ran */
  write(item: DatasetItem, repeat: number, outcomes: readonly TurnOutcome[]): void {
    outcomes.forEach((outcome, position) => this.#writeOne(item, repeat, position, outcome, outcomes));
  }

  /** The turn, its messages and its line of the audit log, or nothing. */
  #writeOne(
    item: DatasetItem,
    repeat: number,
    position: number,
    outcome: TurnOutcome,
    all: readonly TurnOutcome[],
  ): void {
    const { runId, database, log, pieces } = this.#bench;
    const { itemId } = item;
    const { userId } = this.#user;
    const { arm, record } = outcome;
    const sessionId = sessionIdOf(runId, item, arm, repeat);
    const turn = { runId, itemId, userId, arm: arm.name, repeat, turn: 0, position, sessionId };
    database.transaction(() => {
      log.seed(sessionId, userId, item.history);
      if (record !== undefined) log.record(record);
      if ('error' in outcome) {
        const nothing = { promptInfo: null, timings: null, tokens: null, scores: null, memories: null, kv: null };
        this.#turns.insert({ ...turn, ...nothing, answer: '', error: outcome.error });
        return;
      }
      const { response, scores, proven } = outcome;
      const recalled = response.metadata['recalled'] as readonly MemorySearchResult[];
      const stored: StoredScores = {
        ...scores,
        evidence: { ...proven.evidence, agreement: agreementWithReference(outcome, all) },
        item: this.#summary(item),
        prompt: promptFacts(response.promptInfo, recalled.length),
        retrieval: response.metadata['retrieval'] as RetrievalRecord | null,
      };
      pieces.keep(response.promptInfo.segments);
      this.#turns.insert({
        ...turn,
        promptInfo: response.promptInfo,
        timings: response.timings,
        tokens: response.tokens,
        scores: stored,
        memories: describeMemories(response, item.evidence),
        kv: response.metadata['kv'] ?? null,
        answer: response.text,
        error: null,
      });
    });
  }

  #summary(item: DatasetItem): ItemSummary {
    const { mixesLanguages, stage } = this.#bench;
    const { all } = stage.current;
    const first = all.findIndex(({ memoryId }) => item.evidence.includes(memoryId));
    return {
      gold: item.answer,
      category: item.category,
      phrasing: item.phrasing ?? '',
      userKind: this.#user.kind ?? '',
      ...(mixesLanguages ? { language: this.#user.speech.language } : {}),
      memories: all.length,
      evidence: item.evidence.length,
      evidencePlace: first === -1 ? null : all.length === 1 ? 0 : first / (all.length - 1),
      condition: item.condition ?? null,
    };
  }
}

/** What the `memories` column holds: all that was recalled, ranked. @param evidence ids of the memories that answer it */
export function describeMemories(
  { memoriesUsed, metadata }: ChatResponse,
  evidence: readonly string[],
): readonly object[] {
  const recalled = metadata['recalled'] as readonly MemorySearchResult[];
  const used = new Set(memoriesUsed.map(({ memoryId }) => memoryId));
  return recalled.map(({ memoryId, content, score }, rank) => ({
    memoryId,
    content,
    score,
    rank: rank + 1,
    kept: used.has(memoryId),
    evidence: evidence.includes(memoryId),
  }));
}

function agreementWithReference(outcome: TurnOutcome, others: readonly TurnOutcome[]): Agreement | null {
  const name = outcome.arm.reference ?? 'rag';
  const reference = others.find(({ arm }) => arm.name === name);
  if (reference === undefined || 'error' in reference || 'error' in outcome) return null;
  return agreementOf(outcome.proven.nextProbabilities, reference.proven.nextProbabilities);
}
