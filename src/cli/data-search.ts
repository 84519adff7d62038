import { randomUUID } from 'node:crypto';
import { BenchError, didYouMean } from '../base/bench-error.ts';
import { TemporaryFolder } from '../base/temporary-folder.ts';
import { selectEngine, openConfiguredEngine } from '../bench/select-engine.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { type BenchConfig, engineOptionNames } from '../config/bench-config.ts';
import { optionKeys } from '../config/flags-from-schema.ts';
import { type RunDatasets, readRunDatasets } from '../data/join-datasets.ts';
import type { DatasetUser } from '../data/dataset.ts';
import { openEmbeddings, readPreRetrievalConfigFile } from '../eval/run/loaded-models.ts';
import { retrieverNeedsModel, openRunRetriever } from '../eval/run/open-run-retriever.ts';
import { resolveModelOptions } from '../eval/run/plan/resolve-model-options.ts';
import { memoryEntry } from '../eval/run/data-to-system-input.ts';
import { printable, printableJson } from '../render/escape-control-characters.ts';
import { formatNumber } from '../render/format-number.ts';
import {
  coloured,
  emphasised,
  hangingText,
  hangLines,
  padText,
  type Terminal,
  textWidth,
  wrapText,
} from '../render/terminal-text.ts';
import { requireSearchingRetriever } from '../retrieval/given-retriever.ts';
import type { MemorySearchResult, Retrieval } from '../retrieval/retriever.ts';
import { chooseVectorBackend } from '../retrieval/vectors/choose-vector-backend.ts';
import type { Flags } from './options.ts';
import { terminalPage } from './output.ts';
import { ProgressDisplay } from './progress.ts';

const LISTED_USERS = 5;
const GAP = 2;
/** Minimum width of a memory's text; if its id leaves less, the id gets its own line. */
const MIN_COLUMNS = 36;

export const searchOptions = [
  ...optionKeys('Retrieval:'),
  ...engineOptionNames,
  ...(['dataset', 'dataFile', 'errata', 'embedder', 'model', 'engine'] as const),
  ...(['contextTokens', 'threads', 'json', 'quiet'] as const),
];

/** The output: a retrieval, its question, user, data set and time (ISO 8601), and the number of memories that the user has. */
export type SearchOutput = Omit<Retrieval, 'summary'> &
  Readonly<Record<'question' | 'user' | 'dataset' | 'at', string>> & {
    readonly held: number;
    readonly summary?: string;
  };

export async function dataSearch(question: string, { user: userId, ...flags }: Flags & { readonly user: string }) {
  const config = loadBenchConfig({ flags });
  requireSearchingRetriever(config.retriever);
  const { dataset, user } = findUser(userId, await readRunDatasets(config));
  const now = latestTime(user);
  const { summary, ...retrieval } = await retrieve(question, user, now, config);
  const searched = { question, user: userId, dataset, at: now.toISOString(), held: user.memories.length };
  const found = { ...searched, ...retrieval, ...(summary === undefined ? {} : { summary: summary.text }) };
  process.stdout.write(config.json ? printableJson(found) : searchText(found, terminalPage()));
}

/** Finds a user and their data set. @throws BenchError `not-found` */
function findUser(userId: string, { name, parts }: RunDatasets) {
  for (const { name: dataset, users } of parts) {
    const user = users.find((candidate) => candidate.userId === userId);
    if (user !== undefined) return { dataset, user };
  }
  const ids = parts.flatMap(({ users }) => users.map((user) => user.userId));
  const listed = [...ids.slice(0, LISTED_USERS), ...(ids.length > LISTED_USERS ? ['…'] : [])].join(', ');
  throw new BenchError(
    'not-found',
    `--user: ${name} has no user "${userId}"${didYouMean(userId, ids)}`,
    `it has ${ids.length} users: ${listed}; choose other data with --dataset`,
  );
}

/** The time of a user's latest memory or question, at which all memories exist and the newest are still recent. */
function latestTime({ memories, items }: DatasetUser): Date {
  const times = [...memories.map(({ createdAt }) => createdAt), ...items.map(({ askedAt }) => askedAt)];
  return new Date(times.reduce((latest, time) => Math.max(latest, Date.parse(time)), 0));
}

/** Retrieves as a run would. The language model is loaded only for a strategy that needs it. */
async function retrieve(question: string, user: DatasetUser, now: Date, given: BenchConfig): Promise<Retrieval> {
  using display = given.quiet || given.json ? undefined : new ProgressDisplay(process.stderr);
  const engines = selectEngine(given);
  const config = await resolveModelOptions(given, engines, { onProgress: display?.showDownload });
  display?.say('loading embedder and memories');
  const preRetrieval = readPreRetrievalConfigFile(config);
  const { userId, memories } = user;
  const { topK, threshold } = config;
  const opened = retrieverNeedsModel(config, preRetrieval) ? openConfiguredEngine(engines, config) : undefined;
  await using engine = await opened;
  const parts = { embeddings: openEmbeddings(config.embedder), backend: chooseVectorBackend(), preRetrieval, engine };
  using folder = new TemporaryFolder();
  const retriever = await openRunRetriever(parts, config, `search-${randomUUID()}`, folder.path);
  try {
    await retriever.addMemories(memories.map((memory) => ({ ...memoryEntry(memory), userId })));
    return await retriever.retrieve(question, { userId, topK, threshold, now });
  } finally {
    await retriever.close();
  }
}

export function searchText(found: SearchOutput, page: Terminal): string {
  const { user, dataset, at, held, memories, summary } = found;
  const heading = `${memories.length} of ${held} memories of ${user}, ${dataset}, asked at ${at.slice(0, 16).replace('T', ' ')}`;
  const parts = [
    [...wrapped(heading, page.width).map((line) => emphasised(line, page)), ...facts(found, page)],
    memories.length === 0 ? ['nothing was retrieved'] : memoryLines(memories, page),
    ...(summary === undefined ? [] : [[emphasised('summary', page), ...indented(summary, page)]]),
  ];
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function facts(
  { strategy, timingsMs, flags, details, tokensUsed, tokenBudget }: SearchOutput,
  page: Terminal,
): string[] {
  const { embedding, search, ranking } = timingsMs;
  const ms = (value: number): string => `${formatNumber(value, 1)} ms`;
  const rows: (readonly [string, string])[] = [
    ['retriever', strategy],
    ['time', `embedding ${ms(embedding)}, search ${ms(search)}, ranking ${ms(ranking)}`],
    ...(tokenBudget === undefined ? [] : [['tokens', `${tokensUsed ?? 0} of ${tokenBudget}`] as const]),
    ...detailRows(details),
    ...flags.map(({ flag, reason }) => [flag, reason] as const),
  ];
  const columns = Math.max(...rows.map(([name]) => textWidth(name))) + GAP;
  return rows.flatMap(([name, value]) => hangingText(padText(name, columns), printable(value), page.width));
}

/** Flattens the details of a strategy to rows of name and value, without empty ones. */
function detailRows(details: Readonly<Record<string, unknown>>, within = ''): (readonly [string, string])[] {
  return Object.entries(details).flatMap(([key, value]) => {
    const name = `${within}${words(key)}`;
    if (value === null || (Array.isArray(value) && value.length === 0)) return [];
    const plain = (one: unknown): string => (typeof one === 'string' ? one : JSON.stringify(one));
    if (Array.isArray(value)) return [[name, value.map(plain).join(', ')] as const];
    if (typeof value === 'object') return detailRows(value as Readonly<Record<string, unknown>>, `${name}: `);
    return [[name, plain(value)] as const];
  });
}

/** `coldChunks` and `search_depth` as words. */
function words(key: string): string {
  return printable(key.replaceAll('_', ' ').replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
}

function memoryLines(memories: readonly MemorySearchResult[], page: Terminal): string[] {
  const rankColumns = String(memories.length).length;
  const idColumns = Math.max(...memories.map(({ memoryId }) => textWidth(printable(memoryId))));
  const before = rankColumns + GAP + 6 + GAP;
  const isNarrow = page.width - before - idColumns - GAP < MIN_COLUMNS;
  const width = page.width - (isNarrow ? before : before + idColumns + GAP);
  return memories.flatMap(({ memoryId, score, content, path }, index) => {
    const place = path === undefined ? [] : wrapped(path, width).map((line) => coloured(line, 'gray', page));
    const lines = [...wrapped(content, width), ...place];
    const head = `${String(index + 1).padStart(rankColumns)}  ${formatNumber(score, 3).padStart(6)}  `;
    if (isNarrow) return hangLines(head, [...wrapped(memoryId, width), ...lines]);
    return hangLines(`${head}${padText(printable(memoryId), idColumns + GAP)}`, lines);
  });
}

function indented(text: string, page: Terminal): string[] {
  const lines = text.trimEnd().split('\n');
  return lines.flatMap((line) => wrapped(line, page.width - GAP).map((part) => `${' '.repeat(GAP)}${part}`.trimEnd()));
}

function wrapped(text: string, width: number): string[] {
  return wrapText(printable(text), width);
}
