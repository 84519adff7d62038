import type { MemoryRecord } from './memory-record.ts';

/** Minimum confidence of a trusted record. */
const MIN_CONFIDENCE = 0.8;
/** Minimum length in code points: a Chinese character is one. */
const MIN_CHARACTERS = 50;

/** Verdicts of the ingress filter of working memory: `refused` for low confidence, `ignored` for being too short. */
export type IngressVerdict = 'admitted' | 'refused' | 'ignored';

/** Decides if a record may enter working memory. Without a confidence it may; with one that is no number it may not. */
export function ingressVerdict({ content, metadata }: MemoryRecord): IngressVerdict {
  const { confidence } = metadata;
  if (confidence !== undefined && !(typeof confidence === 'number' && confidence >= MIN_CONFIDENCE)) return 'refused';
  return [...content].length < MIN_CHARACTERS ? 'ignored' : 'admitted';
}
