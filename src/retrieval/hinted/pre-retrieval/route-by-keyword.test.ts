import { describe, expect, test } from 'vitest';
import { defaultKeywordRules } from './pre-retrieval-config.ts';
import { routeByKeyword } from './route-by-keyword.ts';

describe('routeByKeyword, with the default rules', () => {
  test.each([
    ['Do you REMEMBER my dog?', ['deep_search'], { search_depth: 3, expand_links: true }],
    ['What did I eat?', ['deep_search'], { search_depth: 3, expand_links: true }],
    ['What happened recently?', ['temporal_search'], { time_range: 'recent' }],
    ['What are my traits?', ['persona_search'], { include_persona: true }],
    ['你还记得我的猫吗', ['deep_search'], { search_depth: 3, expand_links: true }],
    ['我最近说了什么', ['temporal_search'], { time_range: 'recent' }],
    ['What is my dog called?', [], {}],
    // Inside a word it is another word.
    ['Is my disrecall on?', [], {}],
    ['', [], {}],
  ])('%s', (question, strategies, params) => {
    expect(routeByKeyword(question, defaultKeywordRules)).toEqual({ strategies, params });
  });

  test('several rules match in order, and parameters of earlier ones take precedence', () => {
    const rules = [
      { keywords: ['a1'], strategy: 'first', params: { depth: 1, both: 'first' } },
      { keywords: ['b1'], strategy: 'second', params: { both: 'second', more: true } },
      { keywords: ['c1'], strategy: 'first', params: {} },
    ];
    expect(routeByKeyword('c1 b1 a1', rules)).toEqual({
      strategies: ['first', 'second'],
      params: { depth: 1, both: 'first', more: true },
    });
  });

  test('a keyword is text, not a pattern', () => {
    const patterns = ['(a+)+$', '.*', '[', '\\'];
    const rules = patterns.map((pattern) => ({ keywords: [pattern], strategy: pattern, params: {} }));
    expect(routeByKeyword('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', rules).strategies).toEqual([]);
    expect(routeByKeyword('say (a+)+$ and [', rules).strategies).toEqual(['(a+)+$', '[']);
  });

  test('answers a megabyte of near misses', () => {
    const rules = [{ keywords: [`${'a'.repeat(50)}b`], strategy: 'x', params: {} }];
    expect(routeByKeyword('a'.repeat(1_000_000), rules).strategies).toEqual([]);
  });
});
