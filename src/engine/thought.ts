/** The marks between which models write thoughts that are no part of their answer. */
const thoughtMarks = [
  { open: '<think>', close: '</think>' },
  { open: '<thinking>', close: '</thinking>' },
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' },
] as const;

/**
 * The index at which the answer behind a thought begins: 0 without a thought, the length of the text while one is open, and
 * undefined while the text may still become the beginning of one.
 */
export function answerStart(text: string): number | undefined {
  const begun = text.trimStart();
  const marks = thoughtMarks.find(({ open }) => begun.startsWith(open));
  if (marks === undefined)
    return begun !== '' && thoughtMarks.some(({ open }) => open.startsWith(begun)) ? undefined : 0;
  const closed = text.indexOf(marks.close);
  return closed === -1 ? text.length : closed + marks.close.length;
}

/** A text that leaves no thought open: one that it opens last is closed again, empty, as models that can be told not to think have it. */
export function withoutOpenThought(text: string): string {
  const marks = thoughtMarks.find(({ open, close }) => text.lastIndexOf(open) > text.lastIndexOf(close));
  return marks === undefined ? text : `${text.trimEnd()}\n\n${marks.close}\n\n`;
}
