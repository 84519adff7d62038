import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { readPreRetrievalConfigFile } from './loaded-models.ts';

const folder = temporaryFolder();

function file(content: string, name = 'pre.json'): string {
  writeFileSync(folder.file(name), content);
  return folder.file(name);
}

test('reads a file, also with deprecated names, which it reports; without a file, questions are routed by keyword', () => {
  expect(readPreRetrievalConfigFile({})).toMatchObject({ config: { route_strategy: 'keyword' }, warnings: [] });
  const preRetrieval = file('{"operators": {"pre_retrieval": {"keyword_rules": [{"keywords": ["a"], "route": "b"}]}}}');
  const { config, warnings } = readPreRetrievalConfigFile({ preRetrieval });
  expect(config.keyword_rules).toEqual([{ keywords: ['a'], strategy: 'b', params: {} }]);
  expect(warnings).toEqual([`${preRetrieval}: keyword_rules[0].route is now called strategy: write "strategy": "b"`]);
});

test('names a file that is missing, not JSON, or invalid', () => {
  const read = (preRetrieval: string) => () => readPreRetrievalConfigFile({ preRetrieval });
  expect(read('none.json')).toThrow('--pre-retrieval none.json cannot be read');
  expect(read(file('{'))).toThrow(`--pre-retrieval ${folder.file('pre.json')} cannot be read`);
  expect(read(file('{"action": "fly"}'))).toThrow(`${folder.file('pre.json')}: pre_retrieval.action`);
});

/** As the source document writes it. */
const yaml = `
# a comment
operators:
  pre_retrieval:
    action: route
    keyword_rules:
      - keywords: ["remember", 记得]
        route: "long_term"
        params:
          tier_preference: "ltm"
          expand_links: true
    default_strategy: "semantic_search"
`;

test.each(['pre.yaml', 'pre.YML'])('a file may be YAML: %s', (name) => {
  const { config, warnings } = readPreRetrievalConfigFile({ preRetrieval: file(yaml, name) });
  expect(config.action).toEqual(['route']);
  expect(config.keyword_rules).toEqual([
    { keywords: ['remember', '记得'], strategy: 'long_term', params: { tier_preference: 'ltm', expand_links: true } },
  ]);
  expect(warnings).toHaveLength(1);
});

const manyAliases = 'a: &a [x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c, *c, *c]';

test.each([
  ['action: [route', 'cannot be read: Flow sequence in block collection must be sufficiently indented'],
  ['action: route\naction: none', 'cannot be read: Map keys must be unique at line 2, column 1'],
  [manyAliases, 'cannot be read: Excessive alias count'],
  ['!!js/function "x"', 'pre_retrieval: Invalid input'],
  ['action: fly', 'pre_retrieval.action'],
])('YAML that is none, or not understood, is named in one line: %j', (content, message) => {
  const preRetrieval = file(content, 'pre.yaml');
  const read = (): unknown => readPreRetrievalConfigFile({ preRetrieval });
  expect(read).toThrow(message);
  expect(read).toThrow(/^[^\n]*$/);
});
