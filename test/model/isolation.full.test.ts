import { expect, it } from 'vitest';
import { openedProbe } from './isolation-fixture.ts';

const judged = openedProbe();

it('the isolation check passes where all 25 owners and strangers ask', async () => {
  const { status, evidence } = await judged('scoped', { arms: ['rag', 'rag-cached', 'dki', 'dki-blocks'] });
  expect([status, evidence]).toEqual(['passed', expect.stringContaining('in 59 answers of each')]);
});
