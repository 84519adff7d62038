import { expect, it } from 'vitest';
import { armNames } from '../../src/config/bench-config.ts';
import { MAIN_ARMS } from '../../src/eval/run/arms.ts';

it('offers on the command line exactly the arms that run, in the order of the tables', () => {
  expect(armNames).toEqual(MAIN_ARMS);
});
