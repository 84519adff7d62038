import { it } from 'vitest';
import { expectExactArms } from './exact-cuts-promise.ts';

const types = ['f16', 'q8_0', 'q4_0', 'q4_1', 'q5_0', 'q4_k', 'q5_k', 'q6_k'];

it.each(types.flatMap((type) => [1, 2].map((threads) => [type, threads] as const)))(
  'with weights of %s and %i threads, exact arms have the bits of text',
  expectExactArms,
);
