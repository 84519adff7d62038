import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readPreRetrievalFile } from './pre-retrieval-file.ts';

function file(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'dki-bench-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'pre.json');
  writeFileSync(path, content);
  return path;
}

test('without a file questions are routed by keyword', () => {
  const { config, warnings } = readPreRetrievalFile({});
  expect([config.route_strategy, warnings]).toEqual(['keyword', []]);
});

test('a file says how, under old names too, which are said with its name', () => {
  const preRetrieval = file('{"operators": {"pre_retrieval": {"keyword_rules": [{"keywords": ["a"], "route": "b"}]}}}');
  const { config, warnings } = readPreRetrievalFile({ preRetrieval });
  expect(config.keyword_rules).toEqual([{ keywords: ['a'], strategy: 'b', params: {} }]);
  expect(warnings).toEqual([`${preRetrieval}: keyword_rules[0].route is now called strategy: write "strategy": "b"`]);
});

test('a file that is not there, is no JSON or not understood is named', () => {
  expect(() => readPreRetrievalFile({ preRetrieval: 'none.json' })).toThrow('--pre-retrieval none.json cannot be read');
  const broken = file('{');
  expect(() => readPreRetrievalFile({ preRetrieval: broken })).toThrow(`--pre-retrieval ${broken} cannot be read`);
  const wrong = file('{"action": "fly"}');
  expect(() => readPreRetrievalFile({ preRetrieval: wrong })).toThrow(`${wrong}: pre_retrieval.action`);
});
