import { type DatasetItem, type DatasetMemory, evidenceIsKnown, type UserLanguage } from '../../../data/dataset.ts';
import { containsTokens, normalise, splitTokens } from '../../../data/normalise-text.ts';
import type { FunnelStage, Scores, WrongClass } from '../../../store/records/turn-record.ts';
import { isAbstention } from '../../../data/abstention.ts';
import { type AnswerSetting, contains } from './contains.ts';
import { locomoF1 } from './locomo-f1.ts';
import { type MetricsVersion, metricsVersion } from './metrics-version.ts';
import { textMetric } from './text-metrics-by-name.ts';
import { editDistance } from '../../../base/edit-distance.ts';
import type { Language } from '../../../base/language.ts';
import { tokenF1 } from './text-overlap.ts';

/** The parts of an item that its scores depend on; evidence by id. */
export interface ScoredItem extends Pick<
  DatasetItem,
  'query' | 'answer' | 'acceptedAnswers' | 'nuggets' | 'evidence' | 'superseded' | 'relation' | 'conversation'
> {
  readonly category?: string | undefined;
  readonly history: readonly { readonly content: string }[];
}

export interface ScoredTurn {
  readonly answer: string;
  readonly storedIds: readonly string[];
  /** In rank order. */
  readonly retrievedIds: readonly string[];
  readonly keptIds: readonly string[];
  /** The memories that stand in the sequence, as the model saw them. */
  readonly shown: readonly Pick<DatasetMemory, 'memoryId' | 'content' | 'value' | 'relation'>[];
}

/** What `contains` must tell from the right answer: superseded values and others of the same relation (rivals), and other values shown. */
function answerSetting(item: ScoredItem, { shown }: ScoredTurn, profile: UserLanguage): AnswerSetting {
  const { query, superseded, evidence, relation } = item;
  const [known, others] = [true, false].map((is) => shown.filter((one) => evidence.includes(one.memoryId) === is));
  const values = (ofRelation: boolean): string[] =>
    others!.flatMap((memory) => {
      const isRival = relation !== undefined && memory.relation === relation;
      return isRival === ofRelation ? (memory.value ?? []) : [];
    });
  return {
    ...profile,
    query,
    rivals: [...superseded, ...values(true)],
    bystanders: values(false),
    evidenceTexts: known!.map(({ content }) => content),
  };
}

/**
 * The funnel stages that all pieces of evidence pass; without the last where it is unknown whether the answer is right.
 * `evidenceRank`: the rank of the piece ranked last; null if one is missing.
 */
function followEvidence(
  evidence: readonly string[],
  { storedIds, retrievedIds, keptIds, shown }: ScoredTurn,
  isRight: boolean | null,
): Pick<Scores, 'failedStage' | 'passedStages' | 'evidenceRank'> {
  const all = (ids: readonly string[]): boolean => evidence.every((id) => ids.includes(id));
  const stages: readonly (readonly [FunnelStage, boolean])[] = [
    ['stored', all(storedIds)],
    ['retrieved', all(retrievedIds)],
    ['kept', all(keptIds)],
    ['sequence', all(shown.map(({ memoryId }) => memoryId))],
    ...(isRight === null ? [] : [['answered', isRight] as const]),
  ];
  const failed = stages.findIndex(([, passed]) => !passed);
  const ranks = evidence.map((id) => retrievedIds.indexOf(id) + 1);
  return {
    failedStage: stages[failed]?.[0] ?? null,
    passedStages: stages.slice(0, failed === -1 ? undefined : failed).map(([stage]) => stage),
    evidenceRank: ranks.length === 0 || ranks.includes(0) ? null : Math.max(...ranks),
  };
}

export interface SuccessRule {
  readonly metric: string;
  readonly version: MetricsVersion;
}

/** Scores of the answer's text; null for absent items. With nuggets, only their share and the overlaps. */
function textScores(answer: string, golds: readonly string[], nuggets: ScoredItem['nuggets'], setting: AnswerSetting) {
  const { language, version } = setting;
  const score = (name: string, of: readonly string[] = golds): number | null =>
    of.length === 0 ? null : textMetric(name, version).score(answer, of, language);
  const whole = nuggets === undefined ? golds : [];
  const found = golds.length === 0 ? undefined : nuggets?.map((nugget) => score('memoryRecall', [nugget])!);
  return {
    exactMatch: score('exactMatch', whole),
    squadExactMatch: version === 1 ? null : score('squadExactMatch', whole),
    contains: whole.length === 0 ? null : contains(answer, whole, setting),
    tokenF1: score('tokenF1'),
    memoryRecall: found === undefined ? score('memoryRecall') : found.reduce((sum, one) => sum + one) / found.length,
    rougeL: score('rougeL'),
    bleu: score('bleu'),
  };
}

/**
 * Scores a turn. An item with nuggets has no score as a whole, and task success only by a metric that it has.
 * Task success: `locomoF1` if named and it applies; else abstention on absent items; else the named metric, or `contains`.
 */
export function scoreTurn(
  item: ScoredItem,
  turn: ScoredTurn,
  languageProfile: UserLanguage,
  { metric: success, version }: SuccessRule = { metric: 'exactMatch', version: metricsVersion },
): Scores {
  const { language, unknownAnswer } = languageProfile;
  const { answer } = turn;
  const golds = item.answer === null ? [] : [item.answer, ...item.acceptedAnswers];
  const texts = textScores(answer, golds, item.nuggets, {
    ...answerSetting(item, turn, languageProfile),
    version,
  });
  const abstention = item.answer === null ? Number(isAbstention(answer, unknownAnswer, language)) : null;
  const locomo = success === 'locomoF1' ? locomoF1(answer, golds, item.category) : null;
  const deciding = Object.hasOwn(texts, success) ? (success as keyof typeof texts) : 'contains';
  const taskSuccess = locomo ?? abstention ?? texts[deciding];
  const isSuperseded = (value: string): boolean =>
    item.superseded.some((old) => containsTokens(old, value, language) && containsTokens(value, old, language));
  const isRight = taskSuccess === null ? null : taskSuccess === 1;
  const classify = (): WrongClass =>
    classifyWrongAnswer({
      ...languageProfile,
      answer,
      golds,
      superseded: item.superseded,
      otherValues: turn.shown.flatMap(({ memoryId, value }) =>
        value === undefined || item.evidence.includes(memoryId) || isSuperseded(value) ? [] : [value],
      ),
      shownTexts: [item.query, ...[...item.history, ...turn.shown].map(({ content }) => content)],
    });
  const wrongClass = isRight === false ? classify() : null;
  const judged = { ...texts, locomoF1: locomo, abstention, taskSuccess, wrongClass };
  if (item.answer !== null && evidenceIsKnown(item))
    return { ...judged, ...followEvidence(item.evidence, turn, isRight) };
  return { ...judged, failedStage: null, passedStages: [], evidenceRank: null };
}

interface AnswerUnderTest extends UserLanguage {
  readonly answer: string;
  /** The gold answers; empty for an absent item, where abstaining is right. */
  readonly golds: readonly string[];
  readonly superseded: readonly string[];
  /** Values of the memories that were shown, other than the evidence. */
  readonly otherValues: readonly string[];
  readonly shownTexts: readonly string[];
}

/** New words of this list do not make an answer fabricated. */
const FUNCTION_WORDS =
  'i you he she it we they my your his her its our their is are was were am be in on at of to and or yes no not'.split(
    ' ',
  );

const NEAR_COPY_EDITS = 2;
const NEAR_COPY_F1 = 0.5;

function isNearCopy(answer: string, golds: readonly string[], language: Language): boolean {
  const form = normalise(answer, language);
  return golds.some((gold) => {
    const wanted = normalise(gold, language);
    const edits = editDistance(form, wanted);
    // Two edits turn any two characters into any other two.
    return (edits <= NEAR_COPY_EDITS && edits < wanted.length) || tokenF1(answer, [gold], language) >= NEAR_COPY_F1;
  });
}

function bringsNewWord(test: AnswerUnderTest): boolean {
  const shown = new Set(test.shownTexts.flatMap((text) => splitTokens(text, test.language)));
  return splitTokens(test.answer, test.language).some((token) => !shown.has(token) && !FUNCTION_WORDS.includes(token));
}

/**
 * The class of a wrong answer; the first that fits, in this order: wrong abstention · superseded
 * (an outdated value, without the gold) · confused (the value of another memory that was shown, or an outdated value
 * with the gold) · near-copy (edit distance to the gold ≤ 2, or token F1 ≥ 0.5) · fabricated (words that nothing shown
 * contains) · off-topic (empty, or only words that were shown). An absent item has no wrong abstention and no near-copy.
 */
function classifyWrongAnswer(test: AnswerUnderTest): WrongClass {
  const { answer, golds, language } = test;
  if (isAbstention(answer, test.unknownAnswer, language)) return 'wrong-abstention';
  const holds = (values: readonly string[]): boolean => values.some((value) => containsTokens(answer, value, language));
  if (holds(test.superseded)) return holds(golds) ? 'confused' : 'superseded';
  if (holds(test.otherValues)) return 'confused';
  if (isNearCopy(answer, golds, language)) return 'near-copy';
  return bringsNewWord(test) ? 'fabricated' : 'off-topic';
}
