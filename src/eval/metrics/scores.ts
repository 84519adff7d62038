import type { FunnelStage, WrongClass } from '../results.ts';
import { isAbstention } from './abstention.ts';
import { bleu } from './bleu.ts';
import { exactMatch } from './exact-match.ts';
import { followEvidence } from './funnel.ts';
import { memoryRecall } from './memory-recall.ts';
import { containsTokens } from './normalise.ts';
import { rougeL } from './rouge-l.ts';
import { taskSuccess } from './task-success.ts';
import { tokenF1 } from './token-f1.ts';
import type { UserSpeech } from './user-speech.ts';
import { classifyWrong } from './wrong-answer.ts';

/** What is asked and what would be right. */
export interface ScoredItem {
  readonly query: string;
  /** Null for an absent item: the right answer is to abstain. */
  readonly answer: string | null;
  readonly acceptedAnswers: readonly string[];
  readonly evidence: readonly string[];
  readonly superseded: readonly string[];
  readonly history: readonly { readonly content: string }[];
}

/** What the system under test did with the item. */
export interface ScoredTurn {
  readonly answer: string;
  readonly storedIds: readonly string[];
  /** In rank order. */
  readonly recalledIds: readonly string[];
  readonly keptIds: readonly string[];
  /** The memories that stand in the sequence, as the model saw them. */
  readonly shown: readonly {
    readonly memoryId: string;
    readonly content: string;
    readonly value?: string | undefined;
  }[];
}

/** The scores of one turn, each 0 to 1; null where a metric does not apply to the item. */
export interface Scores {
  readonly exactMatch: number | null;
  readonly tokenF1: number | null;
  readonly memoryRecall: number | null;
  readonly rougeL: number | null;
  readonly bleu: number | null;
  readonly abstention: number | null;
  readonly taskSuccess: number | null;
  /** Null for a right answer. */
  readonly wrongClass: WrongClass | null;
  /** The first stage of the funnel that failed; null where none did, and for an absent item. */
  readonly failedStage: FunnelStage | null;
  /** Stages of the funnel that the item passed, up to the first failure; empty for an absent item. */
  readonly passedStages: readonly FunnelStage[];
  /** Rank, from 1, of the evidence that was recalled last. */
  readonly recallRank: number | null;
}

/** Scores one turn against its item; `speech` is that of the user who asked. */
export function scoreTurn(item: ScoredItem, turn: ScoredTurn, speech: UserSpeech): Scores {
  const { language, unknownAnswer } = speech;
  const { answer } = turn;
  const golds = item.answer === null ? [] : [item.answer, ...item.acceptedAnswers];
  const isSuperseded = (value: string): boolean =>
    item.superseded.some((old) => containsTokens(old, value, language) && containsTokens(value, old, language));
  const wrongClass = classifyWrong({
    answer,
    golds,
    superseded: item.superseded,
    otherValues: turn.shown.flatMap(({ memoryId, value }) =>
      value === undefined || item.evidence.includes(memoryId) || isSuperseded(value) ? [] : [value],
    ),
    shownTexts: [
      item.query,
      ...item.history.map((message) => message.content),
      ...turn.shown.map((memory) => memory.content),
    ],
    ...speech,
  });
  if (item.answer === null) {
    const abstained = isAbstention(answer, unknownAnswer, language) ? 1 : 0;
    return {
      exactMatch: null,
      tokenF1: null,
      memoryRecall: null,
      rougeL: null,
      bleu: null,
      abstention: abstained,
      taskSuccess: taskSuccess(null, abstained),
      wrongClass,
      failedStage: null,
      passedStages: [],
      recallRank: null,
    };
  }
  const exact = exactMatch(answer, golds, language);
  const funnel = followEvidence({
    evidence: item.evidence,
    stored: turn.storedIds,
    recalled: turn.recalledIds,
    kept: turn.keptIds,
    inSequence: turn.shown.map((memory) => memory.memoryId),
    answered: exact === 1,
  });
  return {
    exactMatch: exact,
    tokenF1: tokenF1(answer, golds, language),
    memoryRecall: memoryRecall(answer, golds, language),
    rougeL: rougeL(answer, golds, language),
    bleu: bleu(answer, golds, language),
    abstention: null,
    taskSuccess: taskSuccess(exact, null),
    wrongClass,
    failedStage: funnel.failedStage,
    passedStages: funnel.passed,
    recallRank: funnel.rank,
  };
}
