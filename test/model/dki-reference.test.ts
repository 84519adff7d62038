import { describe } from 'vitest';
import { EXACT, HALF, referencePromises, type ReferenceSubject } from './dki-reference-promises.ts';

const subjects: readonly ReferenceSubject[] = [
  { shape: 'tiny-llama-rope-freqs', flashAttention: 'off', ...EXACT },
  { shape: 'tiny-qwen3', flashAttention: 'off', ...EXACT },
  { shape: 'tiny-qwen3', flashAttention: 'on', ...HALF },
];

describe.each(subjects)('on $shape, flash attention $flashAttention, with KV in $kvType', referencePromises);
