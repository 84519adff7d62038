import { containsTokens } from '../../../data/normalise.ts';
import type { UserLanguage } from '../../../data/user-language.ts';
import type { Scores } from '../../../records/scores.ts';
import { isAbstention } from './abstention.ts';
import { bleu } from './bleu.ts';
import { type AnswerSetting, contains } from './contains.ts';
import { exactMatch } from './exact-match.ts';
import { followEvidence } from './funnel.ts';
import { memoryRecall } from './memory-recall.ts';
import { rougeL } from './rouge-l.ts';
import { tokenF1 } from './token-f1.ts';
import { classifyWrong } from './wrong-answer.ts';

/** A question and its right answers. */
export interface ScoredItem {
  readonly query: string;
  /** Null for an absent item: the right answer is to abstain. */
  readonly answer: string | null;
  readonly acceptedAnswers: readonly string[];
  readonly evidence: readonly string[];
  readonly superseded: readonly string[];
  /** Id of the relation that is asked for, where the data set says. */
  readonly relation?: string | undefined;
  readonly history: readonly { readonly content: string }[];
}

/** The answer of the system under test, and the memories on its way. */
export interface ScoredTurn {
  readonly answer: string;
  readonly storedIds: readonly string[];
  /** In rank order. */
  readonly retrievedIds: readonly string[];
  readonly keptIds: readonly string[];
  /** The memories that stand in the sequence, as the model saw them. */
  readonly shown: readonly {
    readonly memoryId: string;
    readonly content: string;
    readonly value?: string | undefined;
    readonly relation?: string | undefined;
  }[];
}

/**
 * The one number that covers both kinds of items: an answerable item succeeds by exact match, an absent one by
 * abstaining. Exactly one of the two is defined for an item.
 */
function taskSuccess(exact: number | null, abstention: number | null): number | null {
  return exact ?? abstention;
}

/** Values that a right answer does not hold: those of the relation that is asked for, and all others that were shown. */
function settingOf(item: ScoredItem, { shown }: ScoredTurn, profile: UserLanguage): AnswerSetting {
  const { query, superseded, evidence, relation } = item;
  const others = shown.filter(({ memoryId }) => !evidence.includes(memoryId));
  const isRival = (memory: ScoredTurn['shown'][number]): boolean =>
    relation !== undefined && memory.relation === relation;
  const valuesOf = (memories: ScoredTurn['shown']): string[] => memories.flatMap(({ value }) => value ?? []);
  return {
    ...profile,
    query,
    rivals: [...superseded, ...valuesOf(others.filter(isRival))],
    bystanders: valuesOf(others.filter((memory) => !isRival(memory))),
    evidenceTexts: shown.filter(({ memoryId }) => evidence.includes(memoryId)).map(({ content }) => content),
  };
}

/** Scores one turn against its item; `languageProfile` is that of the user who asked. */
export function scoreTurn(item: ScoredItem, turn: ScoredTurn, languageProfile: UserLanguage): Scores {
  const { language, unknownAnswer } = languageProfile;
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
    ...languageProfile,
  });
  if (item.answer === null) {
    const abstained = isAbstention(answer, unknownAnswer, language) ? 1 : 0;
    return {
      exactMatch: null,
      contains: null,
      tokenF1: null,
      memoryRecall: null,
      rougeL: null,
      bleu: null,
      abstention: abstained,
      taskSuccess: taskSuccess(null, abstained),
      wrongClass,
      failedStage: null,
      passedStages: [],
      evidenceRank: null,
    };
  }
  const exact = exactMatch(answer, golds, language);
  const funnel = followEvidence({
    evidence: item.evidence,
    stored: turn.storedIds,
    retrieved: turn.retrievedIds,
    kept: turn.keptIds,
    inSequence: turn.shown.map((memory) => memory.memoryId),
    answered: exact === 1,
  });
  return {
    exactMatch: exact,
    contains: contains(answer, golds, settingOf(item, turn, languageProfile)),
    tokenF1: tokenF1(answer, golds, language),
    memoryRecall: memoryRecall(answer, golds, language),
    rougeL: rougeL(answer, golds, language),
    bleu: bleu(answer, golds, language),
    abstention: null,
    taskSuccess: taskSuccess(exact, null),
    wrongClass,
    failedStage: funnel.failedStage,
    passedStages: funnel.passed,
    evidenceRank: funnel.rank,
  };
}
