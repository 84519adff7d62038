import { expect, it } from 'vitest';
import { openedProbe, unscoped, UnscopedRouter } from './isolation-fixture.ts';

const judged = openedProbe();
const arms = ['rag', 'rag-cached', 'dki', 'dki-blocks'];

it('the isolation check passes where all 25 owners and strangers ask', async () => {
  const { status, evidence } = await judged('scoped', { arms });
  expect([status, evidence]).toEqual(['passed', expect.stringContaining('in 60 answers of each')]);
});

it('the isolation check fails on an unscoped index that all ask', async () => {
  const { status, evidence } = await judged('index', { arms, Router: UnscopedRouter });
  expect([status, evidence]).toEqual(['failed', expect.stringContaining("another's secret came out of")]);
});

it('the isolation check fails on an unscoped store that all ask', async () => {
  const { status, evidence } = await judged('store', { arms, leaks: unscoped });
  expect([status, evidence]).toEqual(['failed', expect.stringContaining('KV cache of another user served by')]);
});
