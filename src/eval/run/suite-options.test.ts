import { expect, test } from 'vitest';
import { loadBenchConfig } from '../../config/load-config.ts';
import { suiteOptions } from './suite-options.ts';

const alphaSuite = { defaults: { limit: 200 } };
const mainSuite = { shippedLimit: 300 };

test('a suite sets what the user does not', () => {
  expect(suiteOptions(loadBenchConfig(), alphaSuite).limit).toBe(200);
  expect(suiteOptions(loadBenchConfig({ flags: { limit: '5' } }), alphaSuite).limit).toBe(5);
});

test('a suite may ask a part of the data that ship, and all of those that the user names', () => {
  expect(suiteOptions(loadBenchConfig(), mainSuite).limit).toBe(300);
  expect(suiteOptions(loadBenchConfig({ flags: { limit: '400' } }), mainSuite).limit).toBe(400);
  expect(suiteOptions(loadBenchConfig({ flags: { dataset: './mine.jsonl' } }), mainSuite).limit).toBeUndefined();
});
