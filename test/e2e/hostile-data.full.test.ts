import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type HostileFile, hostileFile } from '../fixtures/fuzz/hostile-files.ts';
import { TriedInTurn } from '../fixtures/fuzz/tried-in-turn.ts';
import type { Ended } from '../fixtures/run-process.ts';
import { TestFolder } from '../model/bench-fixture.ts';

/** `HOSTILE_DATA=2000 HOSTILE_DATA_FROM=200 npx vitest run test/e2e/hostile-data` tries others. */
const FILES = Number(process.env['HOSTILE_DATA'] ?? 200);
const FROM = Number(process.env['HOSTILE_DATA_FROM'] ?? 0);
/** Data sets that are accepted are searched, and some of them asked: that takes seconds each. */
const MAX_BENCHES = 10;

/** Exit codes that are documented: of a success, of a check that failed, of bad input. */
const CODES = [0, 1, 2];
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;
const FAILURE = /(?:^|\n)error: [^\n]+\n {2}hint: [^\n]+\n$/;

it(`${FILES} hostile data sets and settings end no process, hang nowhere, and are refused in two lines or read`, async () => {
  using folder = new TestFolder();
  const script = join(import.meta.dirname, '../fixtures/program-calls.mjs');
  using process = new TriedInTurn<readonly string[], Ended>(script, { timeoutMs: 120_000, tasksEach: 100 });
  const bad: string[] = [];
  const counts = { refused: 0, read: 0, asked: 0 };

  /** True where the call succeeded. */
  const succeeds = async (words: readonly string[], what: string): Promise<boolean> => {
    const outcome = await process.try(words);
    const note = (found: string): number => bad.push(`${what}: ${words[0]}: ${found}`);
    if (outcome.state !== 'answered') {
      note(outcome.state === 'hung' ? 'no answer in time' : outcome.how);
      return false;
    }
    const { code, stdout, stderr } = outcome.answer;
    if (code === null || !CODES.includes(code)) note(`exit code ${code}: ${stderr.slice(0, 300)}`);
    if (CONTROL.test(stdout + stderr)) note(`prints control characters: ${JSON.stringify(stderr.slice(0, 300))}`);
    // Findings are a page of their own.
    if (code === 2 && stdout === '' && !FAILURE.test(stderr)) note(`says ${JSON.stringify(stderr.slice(0, 300))}`);
    return code !== null && code < 2;
  };

  const search = (...words: readonly string[]): string[] => [
    ...['data', 'search', 'Where do I live?', '--quiet', '--user', 'ann', '--json', ...words],
  ];
  const uses = async ({ name, use, what }: HostileFile, path: string, seed: number): Promise<boolean> => {
    const told = `${seed}: ${what}`;
    const small = join(import.meta.dirname, '../fixtures/fuzz/small-set.jsonl');
    if (use === 'preRetrieval') {
      return succeeds(search('--dataset', small, '--retriever', 'hinted', '--pre-retrieval', path), told);
    }
    if (use === 'dataset') {
      if (!(await succeeds(['data', 'verify', path], told))) return false;
      await succeeds([...search('--dataset', path), '--retriever', ['router', 'salience', 'hinted'][seed % 3]!], told);
      if (counts.asked++ >= MAX_BENCHES) return true;
      const out = ['--out', folder.file(`out-${seed}`), '--arms', 'rag,dki', '--limit', '3', '--quiet'];
      await succeeds(['bench', '--dataset', path, ...out], told);
      return true;
    }
    const out = folder.file(`${seed}-${name}.converted.jsonl`);
    if (!(await succeeds(['data', 'convert', '--from', use.convertFrom, path, '--out', out], told))) return false;
    await succeeds(['data', 'verify', out], told);
    return true;
  };

  for (let seed = FROM; seed < FROM + FILES; seed++) {
    const file = hostileFile(seed);
    const path = folder.file(file.name);
    writeFileSync(path, file.bytes);
    if (await uses(file, path, seed)) counts.read++;
    else counts.refused++;
  }
  expect(bad).toEqual([]);
  expect(counts.refused).toBeGreaterThan(0.2 * FILES);
  expect(counts.read).toBeGreaterThan(0.2 * FILES);
});
