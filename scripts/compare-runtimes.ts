/**
 * Counts the retrieved lists that depend on the ONNX runtime of the embedder, over all questions of data sets:
 *
 *   npx tsx scripts/compare-runtimes.ts --embedders embed-en-zh,minilm --datasets recall-en,facts-en
 *
 * Each question asks the router over the memories of its time, once on vectors of either runtime. Prints a Markdown table.
 */
import { parseArgs } from 'node:util';
import { loadBenchConfig } from '../src/config/load-config.ts';
import { readAskedData } from '../src/data/asked-data.ts';
import { type DatasetUser, indexChanges, visibleMemories } from '../src/data/dataset.ts';
import { embedderFolderOf } from '../src/models/embedding/embedder-folder.ts';
import { EmbeddingService } from '../src/models/embedding/embedding-service.ts';
import { onnxRuntimeNames, type OnnxRuntimeName } from '../src/models/embedding/onnx-session.ts';
import { TransformersEmbedder } from '../src/models/embedding/transformers-embedder.ts';
import { MemoryRouter } from '../src/retrieval/memory-router.ts';
import type { MemorySearchResult } from '../src/retrieval/memory-search-result.ts';
import { chooseVectorBackend } from '../src/retrieval/vectors/vector-backend.ts';
import { runScript } from './run-script.ts';

const LENGTHS = [5, 10] as const;
const LONGEST = 10;

type List = readonly MemorySearchResult[];

/** The list of each question, in the order of the data. */
async function listsOf(folder: string, runtime: OnnxRuntimeName, users: readonly DatasetUser[]): Promise<List[]> {
  const embeddings = new EmbeddingService(() => TransformersEmbedder.open(folder, runtime));
  const router = new MemoryRouter(embeddings, { ...chooseVectorBackend(), topK: LONGEST, threshold: -1 });
  const lists: List[] = [];
  for (const { userId, ...user } of users) {
    let indexed: ReadonlySet<string> = new Set();
    for (const item of user.items) {
      const visible = visibleMemories({ ...user, userId }, item);
      const { removed, added } = indexChanges(indexed, visible);
      for (const memoryId of removed) router.removeMemory(memoryId, userId);
      await router.addMemories(added.map(({ memoryId, content }) => ({ memoryId, content, userId })));
      indexed = new Set(visible.map(({ memoryId }) => memoryId));
      lists.push(await router.search(item.query, { userId }));
    }
  }
  return lists;
}

const idsOf = (list: List, length: number): string[] => list.slice(0, length).map(({ memoryId }) => memoryId);

/** Lists of a length that differ at all, and those that hold other memories. */
function differing(native: readonly List[], web: readonly List[], length: number): readonly [number, number] {
  const pairs = native.map((list, question) => [idsOf(list, length), idsOf(web[question]!, length)] as const);
  const order = pairs.filter(([a, b]) => a.join('\n') !== b.join('\n'));
  const members = order.filter(([a, b]) => a.toSorted().join('\n') !== b.toSorted().join('\n'));
  return [order.length, members.length];
}

/** The largest difference of two scores of one memory for one question. */
function largestDifference(native: readonly List[], web: readonly List[]): number {
  return native.reduce((largest, list, question) => {
    const scores = new Map(web[question]!.map(({ memoryId, score }) => [memoryId, score]));
    const own = list.map(({ memoryId, score }) => Math.abs(score - (scores.get(memoryId) ?? score)));
    return Math.max(largest, ...own);
  }, 0);
}

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      embedders: { type: 'string', default: 'embed-en-zh,minilm' },
      datasets: { type: 'string', default: 'recall-en,facts-en' },
    },
  });
  const heads = LENGTHS.flatMap((length) => [`top ${length} differ`, `… in members`]);
  console.log(`| embedder | data | questions | ${heads.join(' | ')} | largest difference of a cosine |`);
  console.log(`| --- | --- ${'| --: '.repeat(heads.length + 2)}|`);
  for (const name of values.embedders.split(',')) {
    const folder = await embedderFolderOf(name);
    for (const dataset of values.datasets.split(',')) {
      const { parts } = await readAskedData(loadBenchConfig({ flags: { dataset }, environment: {} }));
      const users = parts.flatMap((part) => part.users);
      const [native, web] = [
        await listsOf(folder, onnxRuntimeNames[0], users),
        await listsOf(folder, onnxRuntimeNames[1], users),
      ];
      const counts = LENGTHS.flatMap((length) => differing(native, web, length));
      const largest = largestDifference(native, web).toExponential(0);
      console.log(`| ${[name, dataset, native.length, ...counts, largest].join(' | ')} |`);
    }
  }
});
