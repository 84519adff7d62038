import { expect, it } from 'vitest';
import { resultsOf } from '../../../../test/fixtures/check-input.ts';
import type { CheckResult } from '../../../store/records/run-results.ts';
import type { ArmIsolation } from '../../../store/records/run-probes.ts';
import { isolation } from './isolation.ts';

const { checked } = resultsOf(isolation);

const scoped: ArmIsolation = {
  arm: 'rag',
  mustHear: true,
  owners: { answers: 25, right: 25 },
  strangers: { answers: 50, leaks: 0 },
  doubles: { answers: 5, reused: 0 },
  said: [],
};
const among = (arms: readonly ArmIsolation[], randomWeights = false) =>
  checked({ probes: { isolation: { arms } }, randomWeights });

it.each<[Partial<ArmIsolation>, CheckResult['status']]>([
  [{}, 'passed'],
  [{ strangers: { answers: 50, leaks: 1 } }, 'failed'],
  [{ doubles: { answers: 5, reused: 1 } }, 'failed'],
  [{ owners: { answers: 25, right: 20 } }, 'passed'],
  [{ owners: { answers: 3, right: 2 } }, 'passed'],
  [{ owners: { answers: 3, right: 1 } }, 'undecided'],
  [{ atOnce: { answers: 6, leaks: 1 } }, 'failed'],
  [{ atOnce: { answers: 6, leaks: 0, lost: 1 } }, 'failed'],
  [{ atOnce: { answers: 6, leaks: 0, lost: 0 } }, 'passed'],
  [{ reopened: { answers: 4, leaks: 1, reused: 0 } }, 'failed'],
  [{ reopened: { answers: 4, leaks: 0, reused: 1 } }, 'failed'],
])('fails for leaks and KV of others, asked alone, concurrently or after reopening: %j gives %s', (changes, status) => {
  expect(among([{ ...scoped, ...changes }]).status).toBe(status);
});

it('names the arms that leaked, and how users asked', () => {
  const leaks = { strangers: { answers: 50, leaks: 1 }, reopened: { answers: 4, leaks: 1, reused: 0 } };
  const atOnce = { ...scoped, arm: 'dki', atOnce: { answers: 6, leaks: 2 } };
  expect(among([atOnce, { ...scoped, arm: 'rag-cached', ...leaks }, scoped]).evidence).toContain(
    '; secrets of other users came out of dki (asked concurrently), rag-cached (asked one by one, reopened); ',
  );
});

it('fails if an arm that should equal the baseline tells owners less, and is undecided if no arm tells them', () => {
  const deaf = { ...scoped, arm: 'dki', owners: { answers: 25, right: 19 } };
  expect(among([scoped, deaf]).status).toBe('failed');
  expect(among([scoped, { ...deaf, mustHear: false }]).status).toBe('passed');
  expect(among([deaf]).status).toBe('undecided');
});

it('states the share of leaking answers, and of users with the same memories, that it would have found', () => {
  const more = { ...scoped, arm: 'dki', atOnce: { answers: 6, leaks: 0, lost: 0 } };
  expect(among([scoped, more]).detects).toBe(
    'a leak in 5.8 % of answers with 95 % certainty, or in 1 of 5 users with the same memories',
  );
});

it('is undecided without a probe, and by random weights', () => {
  expect(checked().status).toBe('undecided');
  expect(among([{ ...scoped, strangers: { answers: 50, leaks: 1 } }], true).status).toBe('undecided');
  expect(among([{ ...scoped, doubles: { answers: 5, reused: 1 } }], true).status).toBe('failed');
});
