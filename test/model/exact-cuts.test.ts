import { it } from 'vitest';
import { expectExactArms } from './exact-cuts-promise.ts';

it('with weights that are computed in groups of tokens, exact arms have the bits of text', () =>
  expectExactArms('q4_k', 1));
