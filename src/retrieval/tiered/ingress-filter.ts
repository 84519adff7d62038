import type { MemoryRecord } from './memory-record.ts';
import { charactersIn } from './recursive-splitter.ts';

/** Least confidence of a trusted record. */
const LEAST_CONFIDENCE = 0.8;
/** In code points: a Chinese character is one. */
const LEAST_CHARACTERS = 50;

/** Verdicts of the ingress filter of working memory: `refused` for low confidence, `ignored` for being too short. */
export type IngressVerdict = 'admitted' | 'refused' | 'ignored';

/**
 * Decides if a record may enter working memory. A record without a confidence is trusted; one whose confidence is not a
 * number is not.
 */
export function ingressVerdict({ content, metadata }: MemoryRecord): IngressVerdict {
  const { confidence } = metadata;
  if (confidence !== undefined && !(typeof confidence === 'number' && confidence >= LEAST_CONFIDENCE)) return 'refused';
  return charactersIn(content) < LEAST_CHARACTERS ? 'ignored' : 'admitted';
}
