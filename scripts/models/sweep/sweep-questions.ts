import { BenchError } from '../../../src/base/bench-error.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import type { RunDatasets } from '../../../src/data/run-datasets.ts';
import { type DatasetItem, type DatasetMemory, type DatasetUser, visibleMemories } from '../../../src/data/dataset.ts';
import type { MemorySearchResult } from '../../../src/retrieval/retriever.ts';

/** A question, its evidence, and so many memories of its user with the evidence among them. */
export interface SweepQuestion {
  readonly user: DatasetUser;
  readonly item: DatasetItem;
  readonly evidence: readonly MemorySearchResult[];
  readonly memories: readonly MemorySearchResult[];
}

/**
 * Questions that memories answer, drawn evenly over the users of a development split. No retriever is asked, so that a form
 * is judged by how it is read alone: the memories are the evidence and others of the user, by seed.
 * @throws BenchError `bad-data` for data that are not for choosing settings
 */
export function sweepQuestions(
  { name, parts }: RunDatasets,
  count: number,
  { memories, seed }: { readonly memories: number; readonly seed: number },
): readonly SweepQuestion[] {
  if (parts.some(({ declared }) => declared.split !== 'development')) {
    const hint = 'choose one whose header says "split": "development", such as facts-en-dev';
    throw new BenchError(
      'bad-data',
      `${name} is no development split: a form is not chosen on what it is tested by`,
      hint,
    );
  }
  const random = new SeededRandom(seed);
  const questions = parts
    .flatMap(({ users }) => users)
    .flatMap((user) => user.items.flatMap((item) => questionOf(user, item, memories, random) ?? []));
  // The users in turn, so that few questions are still of many users.
  const byUser = new Map<string, SweepQuestion[]>();
  for (const question of random.shuffled(questions)) {
    byUser.set(question.user.userId, [...(byUser.get(question.user.userId) ?? []), question]);
  }
  const rounds = Math.max(...Array.from(byUser.values(), (own) => own.length));
  return Array.from({ length: rounds }, (_, round) => [...byUser.values()].flatMap((own) => own[round] ?? []))
    .flat()
    .slice(0, count);
}

/** Undefined for a question that no memory answers. */
function questionOf(
  user: DatasetUser,
  item: DatasetItem,
  count: number,
  random: SeededRandom,
): SweepQuestion | undefined {
  const visible = visibleMemories(user, item);
  const evidence = visible.filter(({ memoryId }) => item.evidence.includes(memoryId));
  if (item.answer === null || evidence.length === 0) return undefined;
  const others = random.shuffled(visible.filter((memory) => !evidence.includes(memory)));
  const found = random.shuffled([...evidence, ...others.slice(0, Math.max(0, count - evidence.length))]);
  return { user, item, evidence: evidence.map(asResult), memories: found.map(asResult) };
}

function asResult({ memoryId, content, ...metadata }: DatasetMemory): MemorySearchResult {
  return { memoryId, content, score: 1, metadata };
}
