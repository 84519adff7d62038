/** How long a question may be, in code points. */
export interface QuestionLimits {
  readonly min_length: number;
  readonly max_length: number;
}

/** Control characters, and halves of a character. */
const control = /[\p{Cc}\p{Cs}]+/gu;

/** A question without control characters and needless white space, and why it cannot be asked, where it cannot. */
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
