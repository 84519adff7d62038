import { grammars, type Grammar } from '../../../src/base/english-and-chinese-wordings.ts';
import { joinSegments } from '../../../src/systems/prompt/prompt-form.ts';
import { memoryFooterSegment } from '../../../src/systems/prompt/plain-form.ts';
import { containsTokens } from '../../../src/data/normalise-text.ts';
import type { SeededRandom } from '../../../src/base/seeded-random.ts';
import { CURRICULUM } from './curriculum.ts';
import { drawTrainingDocument, type TrainingDocument } from './training-document.ts';
import type { PhrasingSide } from '../../../src/data/generators/facts-and-relations.ts';
import type { QuestionKind } from './training-facts.ts';

/** One question to a model; the segments of its prompt are tokenised one by one behind BOS. */
export interface QualityQuestion {
  readonly prompt: readonly string[];
  /** Memory lines of the prompt. */
  readonly memories: readonly string[];
  readonly gold: string;
  readonly kind: QuestionKind;
  /** True if abstaining is the right answer. */
  readonly absent: boolean;
}

export interface QualitySetOptions {
  readonly language: Grammar['language'];
  /** Number of answerable questions; absent ones are added as drawn. */
  readonly answerable: number;
  /** Facts of a document, without updates. */
  readonly memories: number;
  readonly phrasing: PhrasingSide;
  /** Leaves out the memories, and the questions that the conversation or nothing answers. */
  readonly withoutMemories?: boolean;
}

function questionsOf(document: TrainingDocument, withoutMemories: boolean): QualityQuestion[] {
  const footer = joinSegments([memoryFooterSegment]);
  const { header, memories, language } = document;
  return document.questions.flatMap(({ suffix, answer, kind }): QualityQuestion[] => {
    const gold = answer.trim().replace(/[.。]$/u, '');
    const absent = answer.trim() === grammars[language].unknownAnswer;
    if (!withoutMemories) return [{ prompt: [...header, ...memories, ...suffix], memories, gold, kind, absent }];
    if (absent || suffix.some((text) => containsTokens(text, gold, language))) return [];
    const prompt = [header[0]!, ...suffix.filter((text, index) => index > 0 || text !== footer)];
    return [{ prompt, memories: [], gold, kind, absent }];
  });
}

/**
 * Draws questions about held-out values, in the bench's own prompt, for judging a model. Whole documents are drawn until
 * there are enough answerable questions.
 */
export function drawQualitySet(random: SeededRandom, options: QualitySetOptions): QualityQuestion[] {
  const { language, memories, phrasing, answerable, withoutMemories = false } = options;
  const wanted = { heldOut: true, phrasing, language, layout: 'text', memories } as const;
  const questions: QualityQuestion[] = [];
  while (questions.filter(({ absent }) => !absent).length < answerable) {
    questions.push(...questionsOf(drawTrainingDocument(random, CURRICULUM.at(-1)!, wanted), withoutMemories));
  }
  return questions;
}
