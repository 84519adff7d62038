import { grammars, type Grammar } from '../../config/grammar.ts';
import { joinSegments, memoryFooterSegment } from '../../systems/prompt/segments.ts';
import { containsTokens } from '../metrics/normalise.ts';
import type { SeededRandom } from '../random.ts';
import { CURRICULUM } from './curriculum.ts';
import { drawTrainingDocument, type TrainingDocument } from './training-document.ts';
import type { PhrasingSide } from './relations.ts';
import type { QuestionKind } from './training-facts.ts';

/** One question to a model: its prompt as segments, to be tokenised one by one behind BOS. */
export interface QualityQuestion {
  readonly prompt: readonly string[];
  /** Those of the prompt. */
  readonly memories: readonly string[];
  readonly gold: string;
  readonly kind: QuestionKind;
  /** The right answer is to say that it is not known. */
  readonly absent: boolean;
}

/** What a set of questions is drawn like. */
export interface QualitySetOptions {
  readonly language: Grammar['language'];
  /** Answerable questions; absent ones come on top, as they fall. */
  readonly answerable: number;
  /** Facts of a document; updates come on top. */
  readonly memories: number;
  readonly phrasing: PhrasingSide;
  /** Leaves the memories out, and with them the questions that the conversation or nothing answers. */
  readonly withoutMemories?: boolean;
}

function isClosed(gold: string, suffix: readonly string[], language: Grammar['language']): boolean {
  return suffix.every((text) => !containsTokens(text, gold, language));
}

function questionsOf(document: TrainingDocument, withoutMemories: boolean): QualityQuestion[] {
  const footer = joinSegments([memoryFooterSegment]);
  const { language } = document;
  return document.questions.flatMap(({ suffix, answer, kind }): QualityQuestion[] => {
    const gold = answer.trim().replace(/[.。]$/u, '');
    const absent = answer.trim() === grammars[language].unknownAnswer;
    if (!withoutMemories) {
      return [
        {
          prompt: [...document.header, ...document.memories, ...suffix],
          memories: document.memories,
          gold,
          kind,
          absent,
        },
      ];
    }
    if (absent || !isClosed(gold, suffix, language)) return [];
    const [system] = document.header;
    return [
      {
        prompt: [system!, ...suffix.filter((text, index) => index > 0 || text !== footer)],
        memories: [],
        gold,
        kind,
        absent,
      },
    ];
  });
}

/**
 * Questions about held-out values in the prompt that the bench itself builds, for judging a model before it is used.
 * Whole documents are drawn until there are enough answerable questions.
 */
export function drawQualitySet(random: SeededRandom, options: QualitySetOptions): QualityQuestion[] {
  const { language, memories, phrasing } = options;
  const questions: QualityQuestion[] = [];
  let answerable = 0;
  while (answerable < options.answerable) {
    const document = drawTrainingDocument(random, CURRICULUM.at(-1)!, {
      heldOut: true,
      phrasing,
      language,
      layout: 'text',
      memories,
    });
    const drawn = questionsOf(document, options.withoutMemories ?? false);
    questions.push(...drawn);
    answerable += drawn.filter((question) => !question.absent).length;
  }
  return questions;
}
