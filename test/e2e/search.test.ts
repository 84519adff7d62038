import { describe, expect, it } from 'vitest';
import { searchingRetrieverNames } from '../../src/config/bench-config.ts';
import { textWidth } from '../../src/render/terminal-text.ts';
import { expectMistake, programIn } from '../fixtures/program-host.ts';
import { program, runProcess } from '../fixtures/run-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder();
const host = programIn(folder.path);

const search = (words: readonly string[]) => host.run('data', 'search', ...words);

/** Lines that every strategy shows besides the memories. */
const shown: Readonly<Record<(typeof searchingRetrieverNames)[number], readonly (string | RegExp)[]>> = {
  router: [/^retriever +router$/m],
  tiered: [/^hot +5$/m, /^cold chunks +0$/m, '\nsummary\n  ## 历史上下文\n\n  ### 记录 1 (相关度: 1.00)\n'],
  salience: [
    /^path +fast$/m,
    /^files +user\/preferences\.md$/m,
    /^tokens +\d+ of 1500$/m,
    /^ +user\/preferences\.md$/m,
  ],
  hinted: [
    /^hints: strategies +deep_search$/m,
    /^hints: params: expand links +true$/m,
    /^tiers +short, mid, long, persona$/m,
  ],
};

describe('a search', () => {
  it.each(searchingRetrieverNames)('by %s shows memories with scores, and what the strategy did', async (retriever) => {
    const question = 'Do you remember my preference for a colour?';
    const { code, stdout, stderr } = await search([question, '--user', 'u01', '--retriever', retriever, '--quiet']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^\d of 5 memories of u01, recall-en, asked at 2026-06-01 14:33\nretriever +/);
    expect(stdout).toMatch(/^1 +1?[01]\.\d{3} {2}u01-m0\d {2}\S/m);
    for (const part of shown[retriever]) expect(stdout).toMatch(part);
    expect(Math.max(...stdout.split('\n').map(textWidth))).toBeLessThanOrEqual(80);
  });

  it('is one JSON document, in Chinese too, with at most --top-k memories', async () => {
    const { code, stdout } = await search(['我姐姐喜欢什么颜色？', '--user', 'z01', '--top-k', '2', '--json']);
    expect(code).toBe(0);
    const found = JSON.parse(stdout) as { readonly memories: readonly { readonly score: number }[] };
    const asked = { question: '我姐姐喜欢什么颜色？', user: 'z01', dataset: 'recall-zh', held: 5 };
    expect(found).toMatchObject({ ...asked, strategy: 'router', flags: [], details: {} });
    expect(found.memories).toHaveLength(2);
    expect(found.memories[0]!.score).toBeGreaterThan(found.memories[1]!.score);
  });

  it('of an empty question retrieves nothing; the router logs where it is asked to', async () => {
    const environment = { NODE_DEBUG: 'dki-router' };
    const words = ['data', 'search', ' ', '--user', 'u01', '--quiet'];
    const { code, stdout, stderr } = await runProcess([...program, ...words], { cwd: folder.path, environment });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^0 of 5 memories .*\n\nnothing was retrieved\n$/s);
    expect(stderr).toMatch(/^DKI-ROUTER \d+: index made: \S.*, \d+ dimensions\nDKI-ROUTER \d+: memories added: 5\n$/);
  });

  it.each([
    [
      ['x', '--user', 'u1'],
      'error: --user: recall-en+recall-zh has no user "u1": did you mean u01?\n  hint: it has 40 users: u01,',
    ],
    [['x'], "error: required option '--user <id>' not specified\n"],
    [['--user', 'u01'], "error: missing required argument 'question'\n"],
    [['x', '--user', 'u01', '--retriever', 'given'], 'error: --retriever given: only items of a data set list'],
    [['x', '--user', 'u01', '--dataset', './none.jsonl'], 'error: '],
  ])('%j ends with 2 and two lines', async (words, message) => {
    expectMistake(await search([...words, '--quiet']), message);
  });
});
