/** Length limits of a question, in code points. */
export interface QuestionLimits {
  readonly min_length: number;
  readonly max_length: number;
}

/** Control characters, and unpaired surrogates. */
const control = /[\p{Cc}\p{Cs}]+/gu;

/** Removes control characters and redundant white space; `invalid` is the reason why a question is refused. */
export function validateQuestion(
  question: string,
  { min_length: least, max_length: most }: QuestionLimits,
): { readonly question: string; readonly invalid?: string } {
  const clean = question.normalize('NFC').replace(control, ' ').replace(/\s+/gu, ' ').trim();
  const length = [...clean].length;
  if (length < least) {
    return {
      question: clean,
      invalid: length === 0 ? 'the question is empty' : `the question has ${length} characters, ${least} are needed`,
    };
  }
  if (length > most) return { question: clean, invalid: `the question has ${length} characters, ${most} are allowed` };
  return { question: clean };
}
