import type { Command } from 'commander';
import { type BenchConfig, engineOptionNames } from '../config/bench-config.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { readAskedData } from '../data/asked-data.ts';
import type { DatasetUser } from '../data/dataset.ts';
import { printableJson } from '../render/printable.ts';
import { requireSearching } from '../retrieval/given-retriever.ts';
import { composeEngine, engineNames } from '../bench/compose.ts';
import { addConfigOptions } from './config-options.ts';
import { pageOf } from './page.ts';
import { ProgressDisplay } from './progress.ts';
import { latestTime, searchedUser, searchMemories } from './search/search-memories.ts';
import { searchText } from './search/search-text.ts';

/** Options that a search depends on. */
const options = [
  ...([
    'dataset',
    'dataFile',
    'errata',
    'retriever',
    'topK',
    'threshold',
    'retrievalTokens',
    'halfLife',
    'salienceWeights',
    'preRetrieval',
  ] as const),
  ...(['hot', 'cold', 'coldIndex', 'eventsPort', 'embedder', 'model', 'engine', 'contextTokens', 'threads'] as const),
  ...engineOptionNames,
  ...(['json', 'quiet'] as const),
] satisfies readonly (keyof BenchConfig)[];

interface SearchFlags {
  readonly user: string;
  readonly [option: string]: unknown;
}

/** Declares `search`. */
export function declareSearch(command: Command): void {
  command
    .description('retrieve memories of a user of a data set, without an answer: scores, hints, paths, summary')
    .argument('<question>', 'question, as the user would ask it');
  addConfigOptions(command, options, { engine: engineNames })
    .requiredOption('--user <id>', 'user whose memories are searched, at the time of their latest memory or question')
    .action((question: string, { user, ...flags }: SearchFlags) => search(question, user, loadBenchConfig({ flags })));
}

async function search(question: string, userId: string, config: BenchConfig): Promise<void> {
  requireSearching(config.retriever);
  const { dataset, user } = searchedUser(userId, await readAskedData(config));
  const at = latestTime(user);
  const { summary, ...retrieval } = await retrieved(question, user, at, config);
  const searched = { question, user: userId, dataset, at: at.toISOString(), held: user.memories.length };
  const found = { ...searched, ...retrieval, ...(summary === undefined ? {} : { summary: summary.text }) };
  process.stdout.write(config.json ? printableJson(found) : searchText(found, pageOf(process.stdout)));
}

async function retrieved(question: string, user: DatasetUser, at: Date, config: BenchConfig) {
  using display = config.quiet || config.json ? undefined : new ProgressDisplay(process.stderr);
  const engines = composeEngine(config);
  const progress = { onProgress: display?.showDownload, onLoad: () => display?.say('loading embedder and memories') };
  return await searchMemories(question, user, at, config, engines, progress);
}
