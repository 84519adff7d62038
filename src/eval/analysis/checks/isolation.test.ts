import { expect, it } from 'vitest';
import { checkInput } from '../../../../test/fixtures/check-input.ts';
import type { CheckResult } from '../../../store/records/results.ts';
import type { ArmIsolation } from '../../../store/records/run-probes.ts';
import type { CheckInput } from './check.ts';
import { isolation } from './isolation.ts';

const checked = (changes: Partial<CheckInput> = {}): CheckResult => isolation(checkInput(changes));

const scoped: ArmIsolation = {
  arm: 'rag',
  mustHear: true,
  owners: { answers: 25, right: 25 },
  strangers: { answers: 50, leaks: 0 },
  doubles: { answers: 5, reused: 0 },
  said: [],
};
const judged = (changes: Partial<ArmIsolation>, more: Partial<CheckInput> = {}): CheckResult['status'] =>
  checked({ probes: { ...checkInput().probes, isolation: { arms: [{ ...scoped, ...changes }] } }, ...more }).status;

it('passes without a leak, and fails by a leak and by foreign KV, at once, one by one and in a new system', () => {
  expect(judged({})).toBe('passed');
  expect(judged({ strangers: { answers: 50, leaks: 1 } })).toBe('failed');
  expect(judged({ doubles: { answers: 5, reused: 1 } })).toBe('failed');
  expect(judged({ owners: { answers: 25, right: 20 } })).toBe('passed');
  expect(judged({ atOnce: { answers: 6, leaks: 1 } })).toBe('failed');
  expect(judged({ atOnce: { answers: 6, leaks: 0, lost: 1 } })).toBe('failed');
  expect(judged({ atOnce: { answers: 6, leaks: 0, lost: 0 } })).toBe('passed');
  expect(judged({ reopened: { answers: 4, leaks: 1, reused: 0 } })).toBe('failed');
  expect(judged({ reopened: { answers: 4, leaks: 0, reused: 1 } })).toBe('failed');
});

it('says which arms leaked, and whether it took users who ask at one moment', () => {
  const arms = [
    { ...scoped, arm: 'dki', atOnce: { answers: 6, leaks: 2 } },
    {
      ...scoped,
      arm: 'rag-cached',
      strangers: { answers: 50, leaks: 1 },
      reopened: { answers: 4, leaks: 1, reused: 0 },
    },
    scoped,
  ];
  expect(checked({ probes: { ...checkInput().probes, isolation: { arms } } }).evidence).toContain(
    "; another's secret came out of dki (asked at one moment), rag-cached (asked one by one, opened anew); ",
  );
});

it('fails where an arm that answers as the baseline tells owners less, and is undecided where no arm tells them', () => {
  const deaf = { ...scoped, arm: 'dki', owners: { answers: 25, right: 19 } };
  const among = (...arms: ArmIsolation[]): CheckResult['status'] =>
    checked({ probes: { ...checkInput().probes, isolation: { arms } } }).status;
  expect(among(scoped, deaf)).toBe('failed');
  expect(among(scoped, { ...deaf, mustHear: false })).toBe('passed');
  expect(among(deaf)).toBe('undecided');
});

it('is undecided without a probe, and by random weights', () => {
  expect(checked().status).toBe('undecided');
  expect(judged({ strangers: { answers: 50, leaks: 1 } }, { randomWeights: true })).toBe('undecided');
  expect(judged({ doubles: { answers: 5, reused: 1 } }, { randomWeights: true })).toBe('failed');
});
