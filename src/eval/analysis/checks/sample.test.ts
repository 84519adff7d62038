import { expect, it } from 'vitest';
import { handmadeTraits } from '../../../../test/fixtures/arm-traits.ts';
import { changedTurn, checkInput, dki, rag } from '../../../../test/fixtures/check-input.ts';
import { failedTurn } from '../../../../test/fixtures/turn-record.ts';
import type { AnsweredTurn } from '../../../store/records/turn-record.ts';
import type { CheckResult } from '../../../store/records/results.ts';
import type { CheckInput } from './check.ts';
import { sample } from './sample.ts';

/** Turns of two arms on so many items, in turn first and second. */
const turns = (items: number): AnsweredTurn[] =>
  Array.from({ length: items }, (_, item) =>
    ['rag', 'dki'].map((arm, place) => changedTurn(arm, {}, { itemId: `i-${item}`, position: (item + place) % 2 })),
  ).flat();

const checked = (changes: Partial<CheckInput>): CheckResult =>
  sample(checkInput({ plan: { items: 4, withoutEvidence: 0, repeats: 1 }, ...changes }));

it('passes where every planned turn is a row, failed ones too', () => {
  expect(checked({ answered: turns(4) }).status).toBe('passed');
  const [first, ...others] = turns(4);
  const { itemId, position } = first!;
  const failed = [failedTurn('rag', 'no', { itemId, position })];
  expect(checked({ answered: others, failed })).toMatchObject({
    status: 'passed',
    evidence: '8 of 8 planned turns are rows, 1 of them failed',
  });
});

it('fails for a row that is missing, and for one that is there twice', () => {
  expect(checked({ answered: turns(4).slice(1) })).toMatchObject({
    status: 'failed',
    evidence: expect.stringContaining('rag has 3 rows of 3 turns in place of 4') as string,
  });
  expect(checked({ answered: [...turns(4).slice(1), turns(4)[2]!] }).status).toBe('failed');
  expect(checked({ answered: turns(4), plan: { items: 4, withoutEvidence: 0, repeats: 2 } }).status).toBe('failed');
});

it('counts on an arm that is given the evidence those items alone whose evidence is known', () => {
  const oracle = handmadeTraits('oracle', { retrieves: 'evidence' });
  const plan = { items: 4, withoutEvidence: 1, repeats: 1 };
  const answered = [...turns(4), ...[0, 1, 2].map((item) => changedTurn('oracle', {}, { itemId: `i-${item}` }))];
  expect(checked({ arms: [rag, dki, oracle], answered, plan }).status).toBe('passed');
});

it('fails where one arm always goes first', () => {
  const answered = turns(4).map((turn) => ({ ...turn, position: turn.arm === 'rag' ? 0 : 1 }));
  expect(checked({ answered })).toMatchObject({
    status: 'failed',
    evidence: expect.stringContaining('rag stood 4 times in one place of the order and 0 times in another') as string,
  });
});

it('fails for a twin that evaluated nothing itself', () => {
  const twin = handmadeTraits('dki', { control: 'twin' });
  const answered = turns(4).map((turn) =>
    turn.arm === 'dki' ? { ...turn, tokens: { ...turn.tokens, evaluated: 0 } } : turn,
  );
  expect(checked({ arms: [rag, twin], answered }).status).toBe('failed');
});
