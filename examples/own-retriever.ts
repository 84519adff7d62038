/**
 * A retrieval of one's own: memories that share the most words with the question, written into each item as its passages, which
 * `--retriever given` takes in their order. `npx tsx examples/own-retriever.ts`
 */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadBenchConfig, readDataset, runBench } from 'dki-bench';

const [source] = loadBenchConfig({ flags: { dataset: 'recall-en' } }).dataset;
const { users } = await readDataset(source!);

const wordsOf = (text: string): string[] => text.toLowerCase().match(/\p{L}+/gu) ?? [];

/** The user's memories, those with the most words of the question first, among equals the newest. */
function retrieved(userId: string, query: string): string[] {
  const asked = new Set(wordsOf(query));
  const shared = (content: string): number => new Set(wordsOf(content).filter((word) => asked.has(word))).size;
  const memories = users.find((user) => user.userId === userId)!.memories.toReversed();
  return memories.toSorted((a, b) => shared(b.content) - shared(a.content)).map(({ memoryId }) => memoryId);
}

const lines = readFileSync(source!, 'utf8').trim().split('\n');
const withPassages = lines.map((line) => {
  const record = JSON.parse(line) as { type: string; userId: string; query: string };
  return record.type === 'item'
    ? JSON.stringify({ ...record, passages: retrieved(record.userId, record.query).slice(0, 5) })
    : line;
});
const file = join(mkdtempSync(join(tmpdir(), 'own-retriever-')), 'by-words.jsonl');
writeFileSync(file, `${withPassages.join('\n')}\n`);

const flags = { dataset: file, retriever: 'given', limit: '10', arms: 'rag,dki' };
const [results] = await runBench(loadBenchConfig({ flags }));

for (const { arm, metrics, funnel } of results!.arms) console.log(arm, metrics.exactMatch?.mean, funnel);
