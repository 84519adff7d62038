import { Command } from 'commander';
import { expect, test } from 'vitest';
import { loadBenchConfig } from '../bench/load-config.ts';
import { addConfigOptions } from './config-options.ts';

const parsed = (...words: string[]): Record<string, unknown> =>
  addConfigOptions(new Command()).parse(words, { from: 'user' }).opts();

test('a boolean that its flag turns off is not set where nobody gives it', () => {
  expect(parsed('--no-text')).toEqual({ text: false });
  expect(parsed()).toEqual({});
  const environment = { DKI_BENCH_TEXT: 'false' };
  expect(loadBenchConfig({ flags: parsed(), environment }).text).toBe(false);
  expect(loadBenchConfig({ flags: parsed('--text'), environment }).text).toBe(true);
  expect(addConfigOptions(new Command()).helpInformation()).not.toMatch(/^ *--text\b/m);
});

test('--no-text is refused where texts are kept elsewhere, and where they are needed', () => {
  const flags = { text: false, retriever: 'tiered' };
  expect(() => loadBenchConfig({ flags, environment: {} })).toThrow(
    '--no-text: --retriever tiered keeps texts of memories in stores of its own',
  );
  const judged = { text: false, judge: 'http://127.0.0.1:1/v1', judgeModel: 'm' };
  expect(() => loadBenchConfig({ flags: judged, environment: {} })).toThrow(
    '--no-text: --judge reads the stored answers',
  );
});
