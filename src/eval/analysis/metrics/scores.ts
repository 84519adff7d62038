import { evidenceIsKnown, type UserLanguage } from '../../../data/dataset.ts';
import { containsTokens } from '../../../data/normalise.ts';
import type { Scores } from '../../../store/records/turn-record.ts';
import { isAbstention } from './abstention.ts';
import { bleu } from './bleu.ts';
import { type AnswerSetting, contains } from './contains.ts';
import { followEvidence } from './funnel.ts';
import { locomoF1 } from './locomo-f1.ts';
import { exactMatch, memoryRecall, rougeL, tokenF1 } from './text-overlap.ts';
import { classifyWrong } from './wrong-answer.ts';

/** A question and its right answers. */
export interface ScoredItem {
  readonly query: string;
  /** Null for an absent item: the right answer is to abstain. */
  readonly answer: string | null;
  readonly acceptedAnswers: readonly string[];
  readonly category?: string | undefined;
  readonly evidence: readonly string[];
  readonly superseded: readonly string[];
  /** Id of the relation that is asked for, where the data set says. */
  readonly relation?: string | undefined;
  readonly history: readonly { readonly content: string }[];
  readonly conversation?: string | undefined;
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

/** The metrics of `textScores`. */
const TEXT_SCORES = ['exactMatch', 'contains', 'tokenF1', 'memoryRecall', 'rougeL', 'bleu'] as const;

type TextScores = Readonly<Record<(typeof TEXT_SCORES)[number], number | null>>;

const NO_TEXT_SCORES = Object.fromEntries(TEXT_SCORES.map((name) => [name, null])) as TextScores;

function textScores(answer: string, golds: readonly string[], setting: AnswerSetting): TextScores {
  const { language } = setting;
  return {
    exactMatch: exactMatch(answer, golds, language),
    contains: contains(answer, golds, setting),
    tokenF1: tokenF1(answer, golds, language),
    memoryRecall: memoryRecall(answer, golds, language),
    rougeL: rougeL(answer, golds, language),
    bleu: bleu(answer, golds, language),
  };
}

/** What an answer is judged by: wrong values of the relation that is asked for, and all other values shown. */
function answerSetting(item: ScoredItem, { shown }: ScoredTurn, profile: UserLanguage): AnswerSetting {
  const { query, superseded, evidence, relation } = item;
  const values = (memories: ScoredTurn['shown']): string[] => memories.flatMap(({ value }) => value ?? []);
  const others = shown.filter(({ memoryId }) => !evidence.includes(memoryId));
  const isRival = (memory: ScoredTurn['shown'][number]): boolean =>
    relation !== undefined && memory.relation === relation;
  return {
    ...profile,
    query,
    rivals: [...superseded, ...values(others.filter(isRival))],
    bystanders: values(others.filter((memory) => !isRival(memory))),
    evidenceTexts: shown.filter(({ memoryId }) => evidence.includes(memoryId)).map(({ content }) => content),
  };
}

/**
 * Scores one turn against its item. Success is decided by the named metric on an answerable item, by abstention on an absent
 * one; `locomoF1` decides on both. A metric that does not score texts is replaced by `contains`.
 * @param languageProfile of the user who asked @param success the metric by which an answer is right
 */
export function scoreTurn(
  item: ScoredItem,
  turn: ScoredTurn,
  languageProfile: UserLanguage,
  success = 'exactMatch',
): Scores {
  const { language, unknownAnswer } = languageProfile;
  const { answer } = turn;
  const golds = item.answer === null ? [] : [item.answer, ...item.acceptedAnswers];
  const texts =
    item.answer === null ? NO_TEXT_SCORES : textScores(answer, golds, answerSetting(item, turn, languageProfile));
  const abstention = item.answer === null ? Number(isAbstention(answer, unknownAnswer, language)) : null;
  const locomo = success === 'locomoF1' ? locomoF1(answer, golds, item.category) : null;
  const deciding = TEXT_SCORES.find((name) => name === success) ?? 'contains';
  const taskSuccess = locomo ?? abstention ?? texts[deciding];
  const isSuperseded = (value: string): boolean =>
    item.superseded.some((old) => containsTokens(old, value, language) && containsTokens(value, old, language));
  const wrongClass = classifyWrong({
    ...languageProfile,
    answer,
    isRight: taskSuccess === 1,
    golds,
    superseded: item.superseded,
    otherValues: turn.shown.flatMap(({ memoryId, value }) =>
      value === undefined || item.evidence.includes(memoryId) || isSuperseded(value) ? [] : [value],
    ),
    shownTexts: [
      item.query,
      ...item.history.map(({ content }) => content),
      ...turn.shown.map(({ content }) => content),
    ],
  });
  const judged = { ...texts, locomoF1: locomo, abstention, taskSuccess, wrongClass };
  if (item.answer === null || !evidenceIsKnown(item)) {
    return { ...judged, failedStage: null, passedStages: [], evidenceRank: null };
  }
  const funnel = followEvidence({
    evidence: item.evidence,
    stored: turn.storedIds,
    retrieved: turn.retrievedIds,
    kept: turn.keptIds,
    inSequence: turn.shown.map(({ memoryId }) => memoryId),
    answered: taskSuccess === 1,
  });
  return { ...judged, failedStage: funnel.failedStage, passedStages: funnel.passed, evidenceRank: funnel.rank };
}
