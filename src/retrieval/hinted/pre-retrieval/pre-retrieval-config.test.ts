import { expect, test } from 'vitest';
import { defaultKeywordRules, usesLanguageModel, readPreRetrievalConfig } from './pre-retrieval-config.ts';

const read = (value: unknown) => readPreRetrievalConfig(value, 'pre.json');

test('the configuration of the design document, at any nesting', () => {
  const deep = { keywords: ['remember', 'recall', 'what did'], strategy: 'deep_search', params: { search_depth: 3 } };
  const recent = { keywords: ['yesterday', 'recent'], strategy: 'temporal_search', params: { time_range: 'recent' } };
  const keyword_rules = [deep, recent];
  const common = { action: 'route', route_strategy: 'keyword', default_strategy: 'semantic_search' };
  const pre_retrieval = { ...common, keyword_rules };
  const { config, warnings } = read({ operators: { pre_retrieval } });
  expect(config).toMatchObject({ ...pre_retrieval, action: ['route'] });
  expect(warnings).toEqual([]);
  expect(read({ pre_retrieval })).toEqual(read(pre_retrieval));
  expect(read({}).config.keyword_rules).toEqual(defaultKeywordRules);
});

test('old names work, with a warning that gives the new ones', () => {
  const old = { keywords: ['remember'], route: 'long_term' };
  const keyword_rules = [old, { keywords: ['now'], strategy: 'temporal_search' }];
  const { config, warnings } = read({ keyword_rules, retrieval_routes: ['mid_term', 'short_term'] });
  expect(config.keyword_rules.map(({ strategy }) => strategy)).toEqual(['long_term', 'temporal_search']);
  expect(config.default_strategy).toBe('mid_term');
  expect(warnings).toEqual([
    'pre.json: retrieval_routes is now called default_strategy: write "default_strategy": "mid_term"',
    'pre.json: keyword_rules[0].route is now called strategy: write "strategy": "long_term"',
  ]);
});

test.each([
  [{ keyword_rules: [{ keywords: ['a'], route: 'x', strategy: 'y' }] }, 'keyword_rules[0].route and strategy are both'],
  [{ retrieval_routes: ['x'], default_strategy: 'y' }, 'retrieval_routes and default_strategy are both given'],
  [{ action: 'search' }, 'pre.json: pre_retrieval.action'],
  [{ keyword_rules: [{ keywords: [], strategy: 'x' }] }, 'pre.json: pre_retrieval.keyword_rules[0].keywords'],
  [{ keyword_rules: [{ keywords: ['a'] }] }, 'pre.json: pre_retrieval.keyword_rules[0].strategy'],
  [{ route_strategy: 'magic' }, 'pre.json: pre_retrieval.route_strategy'],
  [{ rout_strategy: 'keyword' }, 'Unrecognized key'],
  [[], 'pre.json: pre_retrieval'],
  [null, 'pre.json: pre_retrieval'],
])('a mistake is named: %j', (value, message) => {
  expect(() => read(value)).toThrow(message);
});

test.each([
  [{}, false],
  [{ route_strategy: 'llm' }, true],
  [{ route_strategy: 'llm', action: 'embedding' }, false],
  [{ rewrite_strategy: 'llm' }, true],
  [{ rewrite_strategy: 'llm', optimize_type: 'expand' }, false],
  [{ decompose_strategy: 'llm' }, true],
])('uses a language model: %j', (value, asks) => {
  expect(usesLanguageModel(read(value).config)).toBe(asks);
});
