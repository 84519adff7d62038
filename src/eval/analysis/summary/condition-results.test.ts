import { expect, test } from 'vitest';
import { changedTurn } from '../../../../test/fixtures/check-input.ts';
import { failedTurn } from '../../../../test/fixtures/turn-record.ts';
import { metricsOfRun } from '../metrics/metric-selection.ts';
import { conditionResults } from './condition-results.ts';

test('failed turns count under their condition, and in their place of the evidence alone', () => {
  const item = (itemId: string, evidencePlace: number) =>
    ['rag', 'dki'].map((arm) => changedTurn(arm, { item: { condition: 20, evidencePlace } }, { itemId }));
  const answered = [...item('q1', 0), ...item('q2', 1), ...item('q3', 1)].filter(
    ({ arm, itemId }) => arm === 'rag' || itemId !== 'q3',
  );
  const failed = [failedTurn('dki', 'no cell left', { itemId: 'q3' })];
  const found = conditionResults({ answered, failed }, ['rag', 'dki'], metricsOfRun({ dataset: {} }), new Map());
  expect(found.map(({ arm, place, n, errors }) => [arm, place, n, errors])).toEqual([
    ['rag', null, 3, 0],
    ['rag', 'early', 1, 0],
    ['rag', 'late', 2, 0],
    ['dki', null, 2, 1],
    ['dki', 'early', 1, 0],
    ['dki', 'late', 1, 1],
  ]);
});
