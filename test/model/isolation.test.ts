import { expect, it } from 'vitest';
import { probeSize } from '../../src/eval/run/prove/isolation-probe.ts';
import { collapsing, forgetful, openedProbe, type ProbedParts, unscoped, UnscopedRouter } from './isolation-fixture.ts';

const judged = openedProbe();

it.each<[string, Omit<ProbedParts, 'arms'>, 'passed' | 'failed', RegExp]>([
  [
    'passes where index and stores are scoped by user, and says how few were asked',
    {},
    'passed',
    /at least 3 of 3 answers; .* in 10 answers of each arm, upper bound 30.8 %; .* served 1 user with/,
  ],
  ['fails on an unscoped index', { Router: UnscopedRouter }, 'failed', /secrets of other users came out of/],
  ['fails on an unscoped store', { leaks: unscoped }, 'failed', /KV cache of another user served by/],
  [
    'fails on systems that mix two users only when they ask at one moment',
    { lies: (system, arm) => (arm === 'rag-cached' ? collapsing(system) : forgetful(system)) },
    'failed',
    /secrets of other users came out of rag-cached \(asked concurrently\), dki-blocks \(asked concurrently\); owners who ask concurrently do not hear their own secret from rag-cached, dki-blocks; /,
  ],
])('the isolation check %s', async (title, parts, status, evidence) => {
  // As in a short run: three owners and two strangers ask, against the secrets of all. A store of each kind.
  const result = await judged(title, { arms: ['rag-cached', 'dki-blocks'], size: probeSize(60), ...parts });
  expect(result).toMatchObject({ status, evidence: expect.stringMatching(evidence) as string });
});
