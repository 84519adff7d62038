import type { Grammar } from '../../base/english-and-chinese-wordings.ts';

/** Fills the slots of a template, such as `{v}`; a slot without a value stays. */
export function fillTemplate(template: string, slots: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (whole, slot: string) => slots[slot] ?? whole);
}

/** Formats an answer as the models are trained to write it: a space, the value, the full stop of the language. */
export function formatAnswer({ answer }: Grammar, value: string): string {
  return fillTemplate(answer, { v: value });
}
