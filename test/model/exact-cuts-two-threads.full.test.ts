import { it } from 'vitest';
import { expectExactArms, weightTypes } from './exact-cuts-promise.ts';

it.each(weightTypes)('with weights of %s and two threads, exact arms have the bits of text', (type) =>
  expectExactArms(type, 2),
);
