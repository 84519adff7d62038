import { expect, test } from 'vitest';
import { loadBenchConfig } from '../../bench/load-config.ts';
import { suiteOptions } from './suite.ts';

const alphaSuite = { defaults: { limit: 200 } };
const mainSuite = { shipped: { limit: 100, users: 20 } };

test('a suite sets what the user does not', () => {
  expect(suiteOptions(loadBenchConfig(), alphaSuite).limit).toBe(200);
  expect(suiteOptions(loadBenchConfig({ flags: { limit: '5' } }), alphaSuite).limit).toBe(5);
});

test('a suite may use a part of the shipped data, but all data that the user names', () => {
  const asked = (flags: Readonly<Record<string, string>> = {}) => {
    const { limit, users } = suiteOptions(loadBenchConfig({ flags }), mainSuite);
    return { limit, users };
  };
  expect(asked()).toEqual({ limit: 100, users: 20 });
  expect(asked({ users: '12' })).toEqual({ limit: 100, users: 12 });
  expect(asked({ limit: '400' })).toEqual({ limit: 400, users: undefined });
  expect(asked({ dataset: './mine.jsonl' })).toEqual({ limit: undefined, users: undefined });
});

test('options that a program writes into the object count as given', () => {
  expect(suiteOptions({ ...loadBenchConfig(), limit: 40 }, mainSuite)).toMatchObject({ limit: 40 });
  expect(suiteOptions({ ...loadBenchConfig(), limit: 40, repeats: 3 }, alphaSuite)).toMatchObject({
    limit: 40,
    repeats: 3,
  });
});
