import { sentenceEnd, surelyFirstSentence } from '../base/sentence-boundaries.ts';
import type { Generation, GenerationLimits } from './engine-session.ts';

export type TextLimits = Pick<GenerationLimits, 'stopTexts' | 'oneSentence'>;

/** A generated text without thought, cut where it ends. */
export interface GeneratedText {
  /** Without leading white space, and without a character that is split at its end. */
  readonly text: string;
  /** The rule that ended the text before the generation ended; undefined without one. */
  readonly end: Extract<Generation['stop'], 'stop-text' | 'sentence'> | undefined;
  /** The thought in front of it, marks included; empty without one. */
  readonly thought: string;
}

export const SPLIT_CHARACTER = /\ufffd+$/u;

/**
 * Reads the text generated so far, for every engine: those in the process stop by it, and texts that come over HTTP are cut by
 * it. An answer ends at the first stop text, and with `oneSentence` at the sentence's end.
 * @param isWhole nothing will follow
 */
export function generatedText(generated: string, limits: TextLimits, isWhole: boolean): GeneratedText {
  const whole = generated.replace(SPLIT_CHARACTER, '');
  const start = answerStart(whole) ?? (isWhole ? 0 : whole.length);
  const answer = whole.slice(start);
  const stops = (limits.stopTexts ?? []).map((stopText) => answer.indexOf(stopText)).filter((index) => index >= 0);
  const stopText = Math.min(...stops, Infinity);
  const sentence = (limits.oneSentence === true ? sentenceEnd(answer, isWhole) : undefined) ?? Infinity;
  return {
    text: answer.slice(0, Math.min(stopText, sentence)).replace(SPLIT_CHARACTER, '').trimStart(),
    end: stopText <= sentence ? (stopText === Infinity ? undefined : 'stop-text') : 'sentence',
    thought: whole.slice(0, start),
  };
}

/** The text so far, without an end that is part of a character or may still be cut off. */
export function stableText(generated: string, limits: TextLimits): string {
  const { text } = generatedText(generated, limits, false);
  const beginnings = (limits.stopTexts ?? []).flatMap((stopText) =>
    Array.from(stopText, (_, index) => stopText.slice(0, index + 1)),
  );
  const held = Math.max(0, ...beginnings.filter((beginning) => text.endsWith(beginning)).map(({ length }) => length));
  const stays = text.slice(0, text.length - held);
  return limits.oneSentence === true ? surelyFirstSentence(stays) : stays;
}

/** Marks around thoughts, which are no part of the answer. */
const thoughtMarks = [
  { open: '<think>', close: '</think>' },
  { open: '<thinking>', close: '</thinking>' },
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' },
] as const;

/**
 * The index at which the answer begins behind a thought: 0 without a thought, the length of the text while one is open,
 * undefined while the text may become the beginning of one.
 */
function answerStart(text: string): number | undefined {
  const begun = text.trimStart();
  const marks = thoughtMarks.find(({ open }) => begun.startsWith(open));
  if (marks === undefined)
    return begun !== '' && thoughtMarks.some(({ open }) => open.startsWith(begun)) ? undefined : 0;
  const closed = text.indexOf(marks.close);
  return closed === -1 ? text.length : closed + marks.close.length;
}

/** Closes an open thought as empty, which tells models not to think. */
export function withoutOpenThought(text: string): string {
  const marks = thoughtMarks.find(({ open, close }) => text.lastIndexOf(open) > text.lastIndexOf(close));
  return marks === undefined ? text : `${text.trimEnd()}\n\n${marks.close}\n\n`;
}
