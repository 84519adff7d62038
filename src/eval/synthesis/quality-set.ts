import { templates } from '../../config/templates.ts';
import { joinSegments, memoryFooterSegment } from '../../systems/prompt/segments.ts';
import { containsTokens } from '../metrics/normalise.ts';
import type { SeededRandom } from '../random.ts';
import { CURRICULUM } from './curriculum.ts';
import { drawTrainingDocument, type TrainingDocument } from './training-document.ts';
import type { PhrasingSide } from './relations.ts';

/** One question to a model: its prompt as segments, to be tokenised one by one behind BOS. */
export interface QualityQuestion {
  readonly prompt: readonly string[];
  readonly gold: string;
  /** The right answer is to say that it is not known. */
  readonly absent: boolean;
}

/** What a set of questions is drawn like. */
export interface QualitySetOptions {
  /** Answerable questions; absent ones come on top, as they fall. */
  readonly answerable: number;
  /** Facts of a document; updates come on top. */
  readonly memories: number;
  readonly phrasing: PhrasingSide;
  /** Leaves the memories out, and with them the questions that the conversation or nothing answers. */
  readonly withoutMemories?: boolean;
}

function isClosed(gold: string, suffix: readonly string[]): boolean {
  return suffix.every((text) => !containsTokens(text, gold, 'en'));
}

function questionsOf(document: TrainingDocument, withoutMemories: boolean): QualityQuestion[] {
  const footer = joinSegments([memoryFooterSegment]);
  return document.questions.flatMap(({ suffix, answer }): QualityQuestion[] => {
    const gold = answer.trim().replace(/\.$/, '');
    const absent = answer.trim() === templates.unknownAnswer;
    if (!withoutMemories) {
      return [{ prompt: [...document.header, ...document.memories, ...suffix], gold, absent }];
    }
    if (absent || !isClosed(gold, suffix)) return [];
    const [system] = document.header;
    return [{ prompt: [system!, ...suffix.filter((text, index) => index > 0 || text !== footer)], gold, absent }];
  });
}

/**
 * Questions about held-out values in the prompt that the bench itself builds, for judging a model before it is used.
 * Whole documents are drawn until there are enough answerable questions.
 */
export function drawQualitySet(random: SeededRandom, options: QualitySetOptions): QualityQuestion[] {
  const { memories, phrasing } = options;
  const questions: QualityQuestion[] = [];
  let answerable = 0;
  while (answerable < options.answerable) {
    const document = drawTrainingDocument(random, CURRICULUM.at(-1)!, {
      heldOut: true,
      phrasing,
      layout: 'text',
      memories,
    });
    const drawn = questionsOf(document, options.withoutMemories ?? false);
    questions.push(...drawn);
    answerable += drawn.filter((question) => !question.absent).length;
  }
  return questions;
}
