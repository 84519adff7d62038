import { editDistance } from '../../../base/edit-distance.ts';
import type { Language } from '../../../base/language.ts';
import { containsTokens, normalise, splitTokens } from '../../../data/normalise-text.ts';
import type { WrongClass } from '../../../store/records/turn-record.ts';
import { isAbstention } from './abstention.ts';
import { tokenF1 } from './text-overlap.ts';
import type { UserLanguage } from '../../../data/user-language.ts';

interface AnswerUnderTest extends UserLanguage {
  readonly answer: string;
  readonly isRight: boolean;
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
 * The class of a wrong answer, null for a right one; the first that fits, in this order: wrong abstention · superseded
 * (an outdated value, without the gold) · confused (the value of another memory that was shown, or an outdated value
 * with the gold) · near-copy (edit distance to the gold ≤ 2, or token F1 ≥ 0.5) · fabricated (words that nothing shown
 * contains) · off-topic (empty, or only words that were shown). An absent item has no wrong abstention and no near-copy.
 */
export function classifyWrongAnswer(test: AnswerUnderTest): WrongClass | null {
  const { answer, golds, language } = test;
  if (test.isRight) return null;
  if (isAbstention(answer, test.unknownAnswer, language)) return 'wrong-abstention';
  const holds = (values: readonly string[]): boolean => values.some((value) => containsTokens(answer, value, language));
  if (holds(test.superseded)) return holds(golds) ? 'confused' : 'superseded';
  if (holds(test.otherValues)) return 'confused';
  if (isNearCopy(answer, golds, language)) return 'near-copy';
  return bringsNewWord(test) ? 'fabricated' : 'off-topic';
}
