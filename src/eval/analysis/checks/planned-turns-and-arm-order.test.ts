import { expect, it } from 'vitest';
import { handmadeTraits } from '../../../../test/fixtures/arm-traits.ts';
import { changedTurn, dki, rag, line, resultsOf } from '../../../../test/fixtures/check-input.ts';
import { failedTurn } from '../../../../test/fixtures/turn-record.ts';
import { sample } from './planned-turns-and-arm-order.ts';

/** Turns of two arms on four items, in turn first and second. */
const turns = [0, 1, 2, 3].flatMap((item) =>
  ['rag', 'dki'].map((arm, place) => changedTurn(arm, {}, { itemId: `i-${item}`, position: (item + place) % 2 })),
);
const [first, ...others] = turns;
const plan = { items: 4, withoutEvidence: 0, repeats: 1 };
const { checked } = resultsOf(sample);

it('passes where every planned turn is a row, failed ones too', () => {
  expect(checked({ plan, answered: turns }).status).toBe('passed');
  const { itemId, position } = first!;
  const failed = [failedTurn('rag', 'no', { itemId, position })];
  expect(line(checked({ plan, answered: others, failed }))).toBe(
    'passed: 8 of 8 planned turns are rows, 1 of them failed',
  );
});

it('fails for a row that is missing, and for one that is there twice', () => {
  expect(line(checked({ plan, answered: others }))).toMatch(/^failed: .*rag has 3 rows of 3 turns instead of 4/);
  expect(checked({ plan, answered: [...others, turns[2]!] }).status).toBe('failed');
  expect(checked({ plan: { ...plan, repeats: 2 }, answered: turns }).status).toBe('failed');
});

it('expects only items with known evidence of an arm that retrieves the evidence', () => {
  const arms = [rag, dki, handmadeTraits('oracle', { retrieves: 'evidence' })];
  const answered = [...turns, ...[0, 1, 2].map((item) => changedTurn('oracle', {}, { itemId: `i-${item}` }))];
  expect(checked({ arms, answered, plan: { ...plan, withoutEvidence: 1 } }).status).toBe('passed');
});

it('fails where one arm always goes first', () => {
  const answered = turns.map((turn) => ({ ...turn, position: turn.arm === 'rag' ? 0 : 1 }));
  expect(line(checked({ plan, answered }))).toMatch(
    /^failed: .*rag stood 4 times in one place of the order and 0 times in another/,
  );
});

it('fails for a twin that evaluated nothing itself', () => {
  const twin = handmadeTraits('dki', { control: 'twin' });
  const answered = turns.map((turn) =>
    turn.arm === 'dki' ? { ...turn, tokens: { ...turn.tokens, evaluated: 0 } } : turn,
  );
  expect(checked({ plan, arms: [rag, twin], answered }).status).toBe('failed');
});

it('judges the order of items that controls skip apart from that of the others', () => {
  const twin = handmadeTraits('rag-twin', { control: 'twin' });
  const arms = [rag, dki, twin];
  const row = (arm: string, item: number, position: number) => changedTurn(arm, {}, { itemId: `j-${item}`, position });
  // Of six items the first three have a twin; the arms rotate in both halves.
  const withTwin = [0, 1, 2].flatMap((item) => arms.map(({ name }, place) => row(name, item, (item + place) % 3)));
  const without = [3, 4, 5].flatMap((item) => ['rag', 'dki'].map((arm, place) => row(arm, item, (item + place) % 2)));
  const sampled = { ...plan, items: 6, controlItems: 3 };
  expect(line(checked({ plan: sampled, arms, answered: [...withTwin, ...without] }))).toMatch(/^passed: 15 of 15 /);
  expect(checked({ plan: { ...sampled, controlItems: 4 }, arms, answered: [...withTwin, ...without] }).status).toBe(
    'failed',
  );
  const fixed = without.map((turn) => ({ ...turn, position: turn.arm === 'rag' ? 0 : 1 }));
  expect(line(checked({ plan: sampled, arms, answered: [...withTwin, ...fixed] }))).toMatch(
    /^failed: rag stood 3 times in one place of the order and 0 times in another; dki stood/,
  );
});
