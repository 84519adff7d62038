import type { MemoryRecord } from './memory-record.ts';
import { charactersIn } from './recursive-splitter.ts';

/** Below it a record is not trusted. */
const LEAST_CONFIDENCE = 0.8;
/** Code points: a Chinese character is one, whatever it takes in bytes. */
const LEAST_CHARACTERS = 50;

/** What guards working memory: `refused` for want of confidence, `ignored` as noise for being short. */
export type IngressVerdict = 'admitted' | 'refused' | 'ignored';

/**
 * Whether a record may be written to working memory. One that says nothing of its confidence is trusted; one whose
 * confidence is no number is not.
 * @see seed 001, "安全过滤"
 */
export function ingressVerdict({ content, metadata }: MemoryRecord): IngressVerdict {
  const { confidence } = metadata;
  if (confidence !== undefined && !(typeof confidence === 'number' && confidence >= LEAST_CONFIDENCE)) return 'refused';
  return charactersIn(content) < LEAST_CHARACTERS ? 'ignored' : 'admitted';
}
