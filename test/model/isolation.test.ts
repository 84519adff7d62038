import { expect, it } from 'vitest';
import { collapsing, forgetful, openedProbe, unscoped, UnscopedRouter } from './isolation-fixture.ts';

const judged = openedProbe();

/** As in a short run: five owners and their strangers ask, against the secrets of all. A store of each kind. */
const few = { arms: ['rag-cached', 'dki-blocks'], askers: 5 };

it('the isolation check passes where index and stores are scoped by user, and says how few were asked', async () => {
  const { status, evidence } = await judged('scoped', few);
  expect([status, evidence]).toEqual([
    'passed',
    expect.stringMatching(/in 5 of 5 answers .* in 20 answers of each, upper bound 16.8 %; .* served 5 users/),
  ]);
});

it('the isolation check fails on an unscoped index', async () => {
  const { status, evidence } = await judged('index', { ...few, Router: UnscopedRouter });
  expect([status, evidence]).toEqual(['failed', expect.stringContaining("another's secret came out of")]);
});

it('the isolation check fails on an unscoped store', async () => {
  const { status, evidence } = await judged('store', { ...few, leaks: unscoped });
  expect([status, evidence]).toEqual(['failed', expect.stringContaining('KV cache of another user served by')]);
});

it('the isolation check fails on systems that mix two users only when they ask at one moment', async () => {
  const { status, evidence } = await judged('moment', {
    ...few,
    lies: (system, arm) => (arm === 'rag-cached' ? collapsing(system) : forgetful(system)),
  });
  expect([status, evidence]).toEqual([
    'failed',
    expect.stringContaining(
      "another's secret came out of rag-cached (asked at one moment), dki-blocks (asked at one moment); owners who ask at one moment do not hear their own from rag-cached, dki-blocks; ",
    ),
  ]);
});
