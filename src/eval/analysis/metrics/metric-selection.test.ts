import { expect, it } from 'vitest';
import { changedTurn } from '../../../../test/fixtures/check-input.ts';
import {
  checkedValue,
  metricsOfRun,
  registeredMetrics,
  registerMetric,
  requirePrimary,
  successMetric,
} from './metric-selection.ts';

const direction = 'lower';
const declared = { name: 'words', label: 'words', kind: 'continuous', unit: 'words', direction, margin: 1 } as const;

it('judges by exact match where the data name nothing, else by what they name', () => {
  expect(metricsOfRun({ dataset: {} }).primary.name).toBe('exactMatch');
  expect(metricsOfRun({ dataset: { primaryMetric: 'contains' } }).primary.name).toBe('contains');
  expect(() => metricsOfRun({ dataset: { primaryMetric: 'gone' } })).toThrow('gone, is unknown');
});

it('decides by contains what is right if the primary metric is no share', () => {
  const success = (primaryMetric: string) => successMetric(metricsOfRun({ dataset: { primaryMetric } })).name;
  expect([success('tokenF1'), success('goldLogProb')]).toEqual(['tokenF1', 'contains']);
});

it('refuses an unknown primary metric, and suggests a name', () => {
  expect(() => requirePrimary('contians', [], 'facts-en')).toThrow(
    /facts-en: primaryMetric "contians".*did you mean "?contains/,
  );
  expect(() => requirePrimary('abstention', [], 'd')).toThrow('cannot be primary');
  expect(() => requirePrimary('words', [declared], 'd')).not.toThrow();
});

it('gives the log-probability per token of the gold, for answerable items only', () => {
  const { primary } = metricsOfRun({ dataset: { primaryMetric: 'goldLogProb' } });
  const goldTokens = [-1, -3].map((logProbability) => ({ token: '', logProbability }));
  const observed = { goldLogProbability: -4, goldTokens };
  expect(primary.of(changedTurn('rag', { observed }))).toBe(-2);
  expect(primary.of(changedTurn('rag', { observed, item: { gold: null } }))).toBeNull();
});

it('registers metrics once, by a name of their own, and takes the values that they declare', () => {
  const register = (changes: object) => () => registerMetric({ ...declared, of: () => 3, ...changes });
  register({})();
  expect(registeredMetrics().map(({ name }) => name)).toEqual(['words']);
  expect(register({})).toThrow('the name is taken');
  expect(register({ name: 'contains' })).toThrow('the name is taken');
  expect(register({ name: 'no name' })).toThrow('is not a valid name');
  expect(register({ name: 'x', margin: -1 })).toThrow('margin -1');
  expect(register({ name: 'x', kind: 'odd' })).toThrow('kind');
  expect([checkedValue(declared, 7), checkedValue(declared, null)]).toEqual([7, null]);
  expect(() => checkedValue({ ...declared, unit: '%' }, 7)).toThrow('gave 7');
  expect(() => checkedValue({ ...declared, kind: 'binary' }, 0.5)).toThrow('gave 0.5');
  expect(() => checkedValue(declared, NaN)).toThrow('gave NaN');
  const { all } = metricsOfRun({ dataset: {}, metrics: [declared] });
  expect(all.at(-1)!.of(changedTurn('rag', { scores: { own: { words: 3 } } }))).toBe(3);
  expect(all.at(-1)!.of(changedTurn('rag'))).toBeNull();
});
