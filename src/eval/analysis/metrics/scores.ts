import { evidenceIsKnown } from '../../../data/dataset.ts';
import { containsTokens } from '../../../data/normalise.ts';
import type { UserLanguage } from '../../../data/user-language.ts';
import type { Scores } from '../../../store/records/scores.ts';
import { isAbstention } from './abstention.ts';
import { bleu } from './bleu.ts';
import { type AnswerSetting, contains } from './contains.ts';
import { exactMatch } from './exact-match.ts';
import { followEvidence } from './funnel.ts';
import { locomoF1 } from './locomo-f1.ts';
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

/** Scores of the text of an answer, of which one may decide whether it is right. */
interface TextScores {
  readonly exactMatch: number;
  readonly contains: number;
  readonly tokenF1: number;
  readonly memoryRecall: number;
  readonly rougeL: number;
  readonly bleu: number;
}

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

const noTextScores: Readonly<Record<keyof TextScores, null>> = {
  exactMatch: null,
  contains: null,
  tokenF1: null,
  memoryRecall: null,
  rougeL: null,
  bleu: null,
};

/** A metric of one data set, with rules for its categories, absent items among them. */
const LOCOMO = 'locomoF1';

/** The score of a text by which an answer is right or wrong; that of `contains` where the metric is none of a text. */
function decidingScore(success: string): keyof TextScores {
  return success in noTextScores ? (success as keyof TextScores) : 'contains';
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

/**
 * Scores one turn against its item; `languageProfile` is that of the user who asked. Exactly one of two decides its success:
 * the metric that is named on an answerable item, abstention on an absent one; `locomoF1` decides on both.
 * @param success the metric by which an answer is right: `exactMatch`
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
  const isSuperseded = (value: string): boolean =>
    item.superseded.some((old) => containsTokens(old, value, language) && containsTokens(value, old, language));
  const texts = item.answer === null ? null : textScores(answer, golds, settingOf(item, turn, languageProfile));
  const abstention = item.answer === null ? Number(isAbstention(answer, unknownAnswer, language)) : null;
  const own = success === LOCOMO ? locomoF1(answer, golds, item.category) : null;
  const taskSuccess = own ?? (texts === null ? abstention! : texts[decidingScore(success)]);
  const wrongClass = classifyWrong({
    answer,
    isRight: taskSuccess === 1,
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
  const judged = { ...(texts ?? noTextScores), locomoF1: own, abstention, taskSuccess, wrongClass };
  if (texts === null || !evidenceIsKnown(item)) {
    return { ...judged, failedStage: null, passedStages: [], evidenceRank: null };
  }
  const funnel = followEvidence({
    evidence: item.evidence,
    stored: turn.storedIds,
    retrieved: turn.retrievedIds,
    kept: turn.keptIds,
    inSequence: turn.shown.map((memory) => memory.memoryId),
    answered: taskSuccess === 1,
  });
  return {
    ...judged,
    failedStage: funnel.failedStage,
    passedStages: funnel.passed,
    evidenceRank: funnel.rank,
  };
}
