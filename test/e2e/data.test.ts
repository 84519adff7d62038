import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HubServer } from '../fixtures/hub-server.ts';
import { expectMistake, programIn } from '../fixtures/program-host.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const fixtures = join(import.meta.dirname, '../fixtures/conversion');
const shipped = join(import.meta.dirname, '../../datasets/recall-en.jsonl');

const folder = temporaryFolder();
const host = programIn(folder.path, { DKI_BENCH_CACHE: folder.file('cache') });

const data = (words: readonly string[]) => host.run('data', ...words);

function writeLines(name: string, lines: readonly object[]): void {
  writeFileSync(folder.file(name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

it('makes the bytes that ship, and others by another seed', async () => {
  expect((await data(['make', 'recall-en', '--out', 'new/a.jsonl'])).code).toBe(0);
  expect(readFileSync(folder.file('new/a.jsonl'), 'utf8')).toBe(readFileSync(shipped, 'utf8'));
  const again = await data(['make', 'recall-en', '--seed', '8', '--out', 'new/a.jsonl']);
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('a.jsonl exists: overwrite it?')]);
  expect(readFileSync(folder.file('new/a.jsonl'), 'utf8')).toBe(readFileSync(shipped, 'utf8'));
  expect((await data(['make', 'recall-en', '--out', 'new/a.jsonl', '--force'])).code).toBe(0);
  const { stdout } = await data(['make', 'recall-en', '--seed', '8', '--users', '3', '--out', 'b.jsonl']);
  expect(stdout).toMatch(/^b\.jsonl: recall-en, seed 8, sha256 [0-9a-f]{64}\nusers: 3, /);
  expect((await data(['verify', 'b.jsonl'])).code).toBe(0);
});

describe('verify', () => {
  const asked = { query: 'Is it Rex?', answer: 'Rex', askedAt: '2026-01-01T00:00:00Z' };
  const item = { type: 'item', itemId: 'q', userId: 'u', ...asked };

  it('ends with 0 on warnings, which it tells', async () => {
    writeLines('warned.jsonl', [item]);
    const { code, stdout, stderr } = await data(['verify', 'warned.jsonl']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('warning  warned.jsonl:1: query holds the answer "Rex"\n');
    expect(stdout).toMatch(/0 errors, 2 warnings\n$/);
  });

  it('ends with 2 on errors, all of which it tells', async () => {
    writeLines('wrong.jsonl', [item, { ...item, evidence: ['m'] }, { ...item, itemId: 'q3', evidence: ['m'] }]);
    const { code, stdout } = await data(['verify', './wrong.jsonl', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ file: 'wrong.jsonl', valid: false, errors: 3 });
    const { stdout: told } = await data(['verify', 'wrong.jsonl']);
    expect(told).toContain('error    wrong.jsonl:2: evidence expected a memory of user u');
    expect(told.replace(/\s+/g, ' ')).toContain('(in line 3 too)');
  });

  it('names what many lines lack once, and how ids and times are generated', async () => {
    const memory = { type: 'memory', userId: 'u', memoryId: 'm', content: 'I live in Oslo.' };
    const question = { type: 'item', userId: 'u', query: 'Where do I live?', answer: 'Oslo' };
    writeLines('short.jsonl', [memory, { ...memory, memoryId: 'n' }, { ...memory, memoryId: 'o' }, question]);
    const { code, stdout } = await data(['verify', 'short.jsonl']);
    const words = stdout.replace(/\s+/g, ' ');
    expect(code).toBe(2);
    expect(words).toContain('short.jsonl:1: createdAt expected string, got nothing (in 2 more lines, up to line 3) →');
    expect(words.match(/createdAt expected/g)).toHaveLength(1);
    const [, command] =
      /to generate ids and times, or read other forms of times: npx dki-bench data (convert \S+ --from jsonl --out \S+);/.exec(
        words,
      )!;
    const converted = await data(command!.split(' '));
    expect(converted).toMatchObject({ code: 0, stderr: expect.not.stringContaining('not used') as string });
    const ready = await data(['verify', 'ready.jsonl']);
    expect(ready.code).toBe(0);
    expect(ready.stdout.replace(/\s+/g, ' ')).toContain('; retrieval returns all memories of each user: add more, or');
  });
});

describe('verify of several', () => {
  const chinese = join(fixtures, '../hand-zh.jsonl');

  it('tells of each, and that they can be asked together', async () => {
    const { code, stdout, stderr } = await data(['verify', `recall-en,${chinese}`]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/recall-en\.jsonl: recall-en, language en, [^]*hand-zh\.jsonl: hand-zh, language zh, /);
    const listed = JSON.parse((await data(['verify', `recall-en,${chinese}`, '--json'])).stdout) as { name: string }[];
    expect(listed.map(({ name }) => name)).toEqual(['recall-en', 'hand-zh']);
  });

  it('ends with 2 where an id stands in both', async () => {
    writeFileSync(folder.file('zh.jsonl'), readFileSync(chinese, 'utf8').replaceAll('zh-lin', 'u01'));
    const { code, stderr } = await data(['verify', `${shipped},./zh.jsonl`]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: .*recall-en\.jsonl and .*zh\.jsonl both have user "u01"\n {2}hint: /);
    expect((await data(['verify', 'recall-en,recall-en'])).stderr).toContain('is named twice');
  });
});

describe('convert', () => {
  it.each([
    ['csv', 'memories.csv', '2 users, 3 memories, 5 items'],
    ['locomo', 'conversations.json', '2 users, 6 memories, 6 items'],
  ])('%s becomes a data set that verifies', async (from, name, counts) => {
    const words = ['convert', '--from', from, join(fixtures, name), '--out', `${from}.jsonl`];
    const stdout = expect.stringContaining(`${name} → ${from}.jsonl: ${counts}\nnote: `) as string;
    expect(await data(words)).toEqual({ code: 0, stdout, stderr: '' });
    expect((await data(['verify', `${from}.jsonl`])).code).toBe(0);
  });
});

it.each([
  [['mkae'], "error: unknown command 'mkae'"],
  [['make', 'recall-ne'], 'error: unknown data set or suite "recall-ne": did you mean recall-en?'],
  [['make', 'main'], 'error: suite main has 3 data sets'],
  [['make', 'retrieval', '--tasks', 'qa'], 'error: --tasks: is an option of ruler, not of retrieval'],
  [['make', 'ruler', '--tasks', 'sing'], 'error: --tasks: unknown task "sing": did you mean single?'],
  [['make', 'recall-zh', '--users', '0'], 'error: --users "0": expected a whole number, 1 or more'],
  [['make', 'retrieval', '--seed', 'x'], 'error: --seed "x": expected a whole number, 0 or more'],
  [['verify', 'none.jsonl'], 'error: none.jsonl: no such file'],
  [['convert', 'x.csv', '--out', 'y.jsonl'], "error: required option '--from <format>' not specified"],
  [['convert', 'x.csv', '--from', 'xml', '--out', 'y'], "error: option '--from <format>' argument 'xml' is invalid."],
  [['convert', 'x.csv', '--from', 'csv', '--out', 'y.jsonl'], 'error: x.csv: no such file'],
])('%j ends with 2 and two lines', async (words, message) => {
  expectMistake(await data(words), message);
});

describe('fetch', () => {
  it('shows licence and address, asks, and keeps the file where --dataset finds it', async () => {
    await using server = await HubServer.start({
      'org/repo/main/passages.json': readFileSync(join(fixtures, 'passages.json')),
    });
    const address = `${server.endpoint}/org/repo/resolve/main/passages.json`;
    const refused = await data(['fetch', 'musique-s', '--address', address]);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(`musique-s: ${address}\nlicence: CC BY 4.0 (MuSiQue)\nstored as: `);
    expect(refused.stderr).toContain('hint: add --yes to accept the terms');
    expect(server.requests).toEqual([]);
    expect((await data(['fetch', 'musique-s', '--address', address, '--yes'])).stdout).toMatch(
      /^musique-s: 2 users, 2 questions, .*; sha256 [0-9a-f]{64}, recorded now, since none is published/,
    );
    const verified = await data(['verify', 'musique-s', '--json']);
    expect(JSON.parse(verified.stdout)).toMatchObject({ name: 'musique-s', valid: true });
    expect((await data(['fetch', 'musique-z', '--yes'])).stderr).toContain('did you mean musique-s?');
  });
});
