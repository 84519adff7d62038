import type { Grammar } from '../../base/grammar.ts';
import { fill } from './fill.ts';

/** Formats an answer as the models are trained to write it: a space, the value, the full stop of the language. */
export function answerIn({ answer }: Grammar, value: string): string {
  return fill(answer, { v: value });
}
