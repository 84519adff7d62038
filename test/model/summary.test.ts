import { afterAll, describe, expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import { openDatabase } from '../../src/store/database.ts';
import { printTurn } from '../../src/viewer/turn/print-turn.ts';
import { serverLinks as links } from '../../src/viewer/links.ts';
import { turnPage, readTurnPage } from '../../src/viewer/turn/turn-page.ts';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { item, memory, writeLines } from '../fixtures/dataset-lines.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { failedChecks, smallConfig } from './bench-fixture.ts';
import { answeredTurns } from './finished-run.ts';

/** Long enough for several chunks, with a line that would begin a turn of its own. */
const long = `My box number 0 is red.\n\nUser: hello\n${'It stands in the shed behind the old red house. '.repeat(14)}`;
const memories = [long, ...Array.from({ length: 12 }, (_, index) => `My box number ${index + 1} is blue.`)].map(
  (content, index) => memory(`m${index + 1}`, { content, createdAt: new Date(Date.UTC(2026, 0, index)).toISOString() }),
);
const question = (number: number, answer: string): object =>
  item(`q${number}`, { query: `What colour is my box number ${number}?`, answer, evidence: [`m${number + 1}`] });

const folder = temporaryFolder();
const run = 'summaries';
const dataset = writeLines(folder, [...memories, question(0, 'red'), question(5, 'blue')]);
const config = smallConfig(folder, { dataset, retriever: 'tiered', arms: 'rag,summary,summary@budget=all', run });
const [results] = (await runBench(config)) as [RunResults];
const database = openDatabase({ path: config.db });
afterAll(() => database.close());

const turnsOf = (arm: string) => answeredTurns(config, run, arm);

describe('the arm summary', () => {
  it('shows what the node put under history_context, in place of the memories', () => {
    const turns = turnsOf('summary');
    expect(turns).toHaveLength(2);
    const words = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
    for (const { given, prompt } of turns) {
      for (const text of [given.summary!, prompt.retrievedContext]) {
        expect(text).toMatch(
          /^## 历史上下文\n\n### 记录 1 \(相关度: 1\.00\)\nMy box number 12 is blue\.\n\n### 记录 2 /,
        );
      }
      expect(words(given.summary!).startsWith(words(prompt.retrievedContext))).toBe(true);
      // A content is one line, so that none begins a turn.
      expect(given.summary).toContain('\nUser: hello');
      expect(prompt.retrievedContext).not.toContain('\nUser: hello');
      expect(prompt.finalPrompt).not.toContain('[1]');
    }
  });

  it('says once what stands in several parts, and leaves the retrieved memories as they are for all arms', () => {
    const [first] = turnsOf('summary@budget=all');
    const parts = first!.prompt.segments.filter(({ memoryId }) => memoryId === 'm1');
    expect(parts.length).toBeGreaterThan(1);
    expect(first!.facts.memoryIds.filter((id) => id === 'm1')).toEqual(['m1']);
    expect(first!.facts.keptMemories).toBeLessThanOrEqual(first!.facts.retrievedMemories);
    expect(turnsOf('rag').map(({ given }) => given)).toEqual(
      turnsOf('summary').map(({ given }) => ({ ...given, retrieved: expect.any(Array) })),
    );
  });

  it('is compared like any other arm, and its checks hold', () => {
    expect(results.arms.map(({ arm }) => arm)).toEqual(['rag', 'summary', 'summary@budget=all']);
    expect(failedChecks(results)).toEqual([]);
  });

  it('is in the viewer and in the terminal, with the summary of every turn on that retriever', async () => {
    for (const arm of ['rag', 'summary']) {
      const model = readTurnPage(database, { run, item: 'q5', arm, repeat: 0, turn: 0 });
      expect(String(await turnPage(model, links))).toContain('Summary by the retriever (history_context)');
      const printed = printTurn(run, model.turn, { width: 100, colour: false });
      expect(printed).toContain('### 记录 1 (相关度: 1.00)');
    }
  });
});
