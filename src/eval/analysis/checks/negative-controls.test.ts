import { expect, it } from 'vitest';
import { handmadeTraits } from '../../../../test/fixtures/arm-traits.ts';
import { changedTurn, type Changes, checkInput, line, rag } from '../../../../test/fixtures/check-input.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { AnsweredTurn } from '../../../store/records/turn-record.ts';
import { metricsOfRun } from '../metrics/metric-selection.ts';
import type { CheckInput } from './check.ts';
import { negativeControls } from './negative-controls.ts';

const none = handmadeTraits('none', { control: 'negative', retrieves: 'nothing' });
const wrong = handmadeTraits('dki-wrong', { control: 'negative', retrieves: 'donor', injects: 'memories' });
const byContains = metricsOfRun({ dataset: { primaryMetric: 'contains' } });

const towns = ['Oslo', 'Turin', 'Lyon', 'Bergen', 'Ghent', 'Porto', 'Graz', 'Malmo'];
const drinks = ['tea', 'milk', 'beer', 'wine', 'cocoa'];

/** Closed items of eight users, the first so many answered right, the others as `answer` says. */
function closed(
  arm: string,
  items: number,
  right: number,
  more: { answer?: string; relation?: string | null; values?: readonly string[]; changes?: Changes } = {},
): AnsweredTurn[] {
  const { answer = 'Nothing.', relation = 'town', values = towns, changes = {} } = more;
  return Array.from({ length: items }, (_, item) => {
    const gold = values[item % values.length]!;
    const place = { itemId: `${changes.item?.answerPrefix ?? relation ?? 'any'}-${item}`, userId: `u-${item % 8}` };
    const answered = { item: { ...changes.item, gold, relation }, answer: { text: item < right ? gold : answer } };
    return changedTurn(arm, { ...changes, ...answered, observed: { closed: true } }, place);
  });
}
const controls = (arms: readonly ArmTraits[], answered: readonly AnsweredTurn[], more: Partial<CheckInput> = {}) =>
  negativeControls(checkInput({ arms, answered, ...more }));

it('pass if no control answers, and fail if one does', () => {
  expect(line(controls([rag, none], closed('none', 40, 0)))).toMatch(
    /^passed: none 0\.0 % of 40 closed items, by chance 0\.0 \[0\.0, \d+\.\d\] \(golds of the same relation\)$/,
  );
  expect(controls([rag, none], closed('none', 40, 16)).status).toBe('failed');
  // The exact lower bound of four of 40 exceeds two points, that of three does not.
  expect(controls([rag, none], closed('none', 40, 0)).detects).toMatch(/^10\.0 points above chance/);
  const both = [...closed('none', 40, 0), ...closed('dki-wrong', 40, 16)];
  expect(controls([rag, none, wrong], both).status).toBe('failed');
});

it('state an excess that fails, also with two users', () => {
  // Each gold once, so that no right answer is right for another item.
  const places = Array.from({ length: 60 }, (_, place) => `Place ${place} Street`);
  const ofTwo = (right: number) =>
    controls(
      [rag, none],
      closed('none', 60, right, { values: places }).map((turn, place) => ({ ...turn, userId: `u-${place % 2}` })),
    );
  const least = Math.round(0.6 * Number.parseFloat(ofTwo(0).detects!));
  expect([least - 1, least].map((right) => ofTwo(right).status)).toEqual(['passed', 'failed']);
});

it('allow a guess that is as often right for other items, and fail for the same rate if it is not', () => {
  // "Oslo" to everybody is right for five of forty, and so it is for everybody else.
  const guess = controls([rag, none], closed('none', 80, 0, { answer: 'Oslo.' }), { metrics: byContains });
  expect(line(guess)).toMatch(/^passed: none 12\.5 %/);
  // A quarter of the items are known to the arm, and to nobody by chance.
  expect(controls([rag, none], closed('none', 80, 20), { metrics: byContains }).status).toBe('failed');
});

it('allow a guess at questions with few golds, and fail for as many right answers that are no guess', () => {
  // "Two" is right for every second count.
  const counts = (right: number, answer: string) => [
    ...closed('none', 40, 0),
    ...closed('none', 20, right, {
      answer,
      values: ['two', 'three'],
      changes: { item: { answerPrefix: 'The number is' } },
    }),
  ];
  const guess = controls([rag, none], counts(0, 'Two.'), { metrics: byContains });
  expect(line(guess)).toMatch(
    /^passed: none 16\.7 % of 60 closed items, .*behind the same answer prefix \(20 items\), of the same relation \(40 items\)/,
  );
  expect(controls([rag, none], counts(20, ''), { metrics: byContains }).status).toBe('failed');
});

it('take golds of the same relation, and say where there were none', () => {
  const chance = (answered: readonly AnsweredTurn[]) =>
    controls([rag, none], answered, { metrics: byContains }).evidence;
  const tea = { answer: 'tea', relation: 'drink', values: drinks } as const;
  // "tea" is never a town: only drinks are tried, a fifth of which it is.
  expect(chance([...closed('none', 30, 0), ...closed('none', 30, 0, tea)])).toContain('(golds of the same relation)');
  expect(chance(closed('none', 40, 0, { relation: null }))).toContain('(golds of the same category)');
  const alone = closed('none', 1, 0, { relation: 'boat', values: ['Kon-Tiki'] });
  expect(chance([...closed('none', 40, 0), ...alone])).toContain(
    'of the same relation (40 items), of the same category (1 items)',
  );
});

it('judge by contains where the primary metric reads more than a text', () => {
  const metrics = metricsOfRun({ dataset: { primaryMetric: 'goldLogProb' } });
  expect(line(controls([rag, none], closed('none', 40, 40), { metrics }))).toMatch(/^failed: .*, by contains$/);
});

it('are undecided with few closed items, without shown donor memories, without controls, and for random weights', () => {
  expect(controls([rag, none], closed('none', 4, 4)).status).toBe('undecided');
  expect(controls([rag, none], closed('none', 5, 5)).status).toBe('failed');
  expect(controls([rag, none], closed('none', 5, 0)).detects).toMatch(/^40\.0 points above chance/);
  const empty = closed('dki-wrong', 40, 40, { changes: { facts: { keptMemories: 0 } } });
  expect(controls([rag, wrong], empty).evidence).toBe('dki-wrong has 0 closed items, 5 needed');
  expect(controls([rag], []).status).toBe('undecided');
  // A control that decides nothing hides no other one that fails.
  const half = [...closed('dki-wrong', 4, 0), ...closed('none', 40, 16)];
  expect(line(controls([rag, none, wrong], half))).toMatch(/^failed: none 40\.0 % of 40 closed items/);
  const quiet = [...closed('dki-wrong', 4, 0), ...closed('none', 40, 0)];
  expect(controls([rag, none, wrong], quiet).status).toBe('undecided');
  expect(controls([rag, none], closed('none', 40, 40), { randomWeights: true }).status).toBe('undecided');
  const one = closed('none', 40, 40, { values: ['Oslo'] });
  expect(controls([rag, none], one).evidence).toContain('all items have one gold');
});
