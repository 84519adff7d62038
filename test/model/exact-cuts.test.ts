import { it } from 'vitest';
import { expectExactArms } from './exact-cuts-promise.ts';

it.each(['q4_k', 'q8_0'])('with weights of %s, exact arms have the bits of text', (type) => expectExactArms(type, 1));
