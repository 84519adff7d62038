import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchConfig } from '../../config/bench-config.ts';
import { BenchError } from '../../base/bench-error.ts';
import type { DownloadOptions } from '../../models/hub/hub-file.ts';
import { didYouMean } from '../../base/nearest-name.ts';
import type { AskedData } from '../../data/asked-data.ts';
import type { DatasetUser } from '../../data/dataset.ts';
import type { EngineOpener } from '../../engine/engine-request.ts';
import { embeddingsOf, needsModel, openRunRetriever } from '../../eval/run/bench-parts.ts';
import { withFetchedModels } from '../../eval/run/fetch-models.ts';
import { memoryEntry } from '../../eval/run/memory-entry.ts';
import { readPreRetrievalFile } from '../../eval/run/pre-retrieval-file.ts';
import type { Retrieval } from '../../retrieval/retriever.ts';
import { chooseVectorBackend } from '../../retrieval/vectors/vector-backend.ts';

/** Ids that a message lists. */
const LISTED_USERS = 5;

/** The user of that id, and the data set that has them. @throws BenchError `not-found` */
export function searchedUser(
  userId: string,
  { name, parts }: AskedData,
): { readonly dataset: string; readonly user: DatasetUser } {
  for (const { name: dataset, users } of parts) {
    const user = users.find((candidate) => candidate.userId === userId);
    if (user !== undefined) return { dataset, user };
  }
  const ids = parts.flatMap(({ users }) => users.map((user) => user.userId));
  const listed = [...ids.slice(0, LISTED_USERS), ...(ids.length > LISTED_USERS ? ['…'] : [])].join(', ');
  throw new BenchError(
    'not-found',
    `--user: ${name} has no user "${userId}"${didYouMean(userId, ids)}`,
    `it has ${ids.length}: ${listed}; --dataset names other data`,
  );
}

/** The time of the latest memory or question of a user: all memories are there, and the youngest are recent. */
export function latestTime({ memories, items }: Pick<DatasetUser, 'memories' | 'items'>): Date {
  const times = [...memories.map(({ createdAt }) => createdAt), ...items.map(({ askedAt }) => askedAt)];
  return new Date(times.reduce((latest, time) => Math.max(latest, Date.parse(time)), 0));
}

/** Retrieves as a run would. The language model is loaded only for a strategy that needs it. */
export async function searchMemories(
  question: string,
  { userId, memories }: DatasetUser,
  now: Date,
  given: BenchConfig,
  engines: EngineOpener,
  { onLoad, ...download }: DownloadOptions & { readonly onLoad: () => void },
): Promise<Retrieval> {
  const config = await withFetchedModels(given, engines, download);
  onLoad();
  const preRetrieval = readPreRetrievalFile(config);
  const { model, contextTokens, threads, topK, threshold } = config;
  const sizes = {
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...(threads === undefined ? {} : { threads }),
  };
  await using engine = needsModel(config, preRetrieval) ? await engines.open({ model, ...sizes }) : undefined;
  const parts = { embeddings: embeddingsOf(config.embedder), backend: chooseVectorBackend(), preRetrieval, engine };
  const folder = mkdtempSync(join(tmpdir(), 'dki-bench-search-'));
  try {
    const retriever = await openRunRetriever(parts, config, `search-${randomUUID()}`, folder);
    try {
      await retriever.addMemories(memories.map((memory) => ({ ...memoryEntry(memory), userId })));
      return await retriever.retrieve(question, { userId, topK, threshold, now });
    } finally {
      await retriever.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
