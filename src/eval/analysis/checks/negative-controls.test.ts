import { expect, it } from 'vitest';
import { handmadeTraits } from '../../../../test/fixtures/arm-traits.ts';
import { changedTurn, type Changes, checkInput, rag } from '../../../../test/fixtures/check-input.ts';
import type { ArmTraits } from '../../../records/arm-traits.ts';
import type { CheckResult } from '../../../records/results.ts';
import type { AnsweredTurn } from '../../../records/turn-record.ts';
import type { CheckInput } from './check.ts';
import { negativeControls } from './negative-controls.ts';

const checked = (changes: Partial<CheckInput> = {}): CheckResult => negativeControls(checkInput(changes));

const none = handmadeTraits('none', { control: 'negative', retrieves: 'nothing' });
const wrong = handmadeTraits('dki-wrong', { control: 'negative', retrieves: 'donor', injects: 'memories' });

/** Closed items of eight users, the first so many answered right. */
const closed = (arm: string, items: number, right: number, changes: Changes = {}) =>
  Array.from({ length: items }, (_, item) => {
    const scores = { exactMatch: item < right ? 1 : 0 };
    const place = { itemId: `i-${item}`, userId: `u-${item % 8}` };
    return changedTurn(arm, { ...changes, observed: { closed: true }, scores }, place);
  });
const controls = (arms: readonly ArmTraits[], answered: readonly AnsweredTurn[], more: Partial<CheckInput> = {}) =>
  checked({ arms, answered, ...more });

it('pass where nobody answers, and fail where somebody does', () => {
  expect(controls([rag, none], closed('none', 40, 0))).toMatchObject({
    status: 'passed',
    evidence: 'none 0.0 % of 40 closed items',
  });
  expect(controls([rag, none], closed('none', 40, 16)).status).toBe('failed');
  expect(controls([rag, none, wrong], [...closed('none', 40, 0), ...closed('dki-wrong', 40, 16)]).status).toBe(
    'failed',
  );
});

it('are undecided by few closed items, by none that a donor was shown for, without controls and by random weights', () => {
  expect(controls([rag, none], closed('none', 29, 29)).status).toBe('undecided');
  const empty = closed('dki-wrong', 40, 40, { facts: { keptMemories: 0 } });
  expect(controls([rag, wrong], empty).evidence).toBe('dki-wrong has 0 closed items, fewer than 30');
  expect(controls([rag], []).status).toBe('undecided');
  expect(controls([rag, none], closed('none', 40, 40), { randomWeights: true }).status).toBe('undecided');
});
