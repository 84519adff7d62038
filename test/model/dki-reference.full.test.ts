import { describe } from 'vitest';
import { onOff } from '../../src/config/bench-config.ts';
import { EXACT, HALF, referencePromises, type ReferenceSubject } from './dki-reference-promises.ts';

const subjects: readonly ReferenceSubject[] = [
  'tiny-llama',
  'tiny-llama-rope-freqs',
  'tiny-qwen2',
  'tiny-qwen3',
].flatMap((shape) =>
  onOff.flatMap((flashAttention) =>
    [EXACT, HALF].map(({ kvType, bound }) => ({
      ...{ shape, flashAttention, kvType },
      // Flash attention computes in 16 bits, whatever the type of the KV.
      bound: flashAttention === 'on' ? HALF.bound : bound,
    })),
  ),
);

describe.each(subjects)('on $shape, flash attention $flashAttention, with KV in $kvType', referencePromises);
