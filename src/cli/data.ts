import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { exitCodes } from '../base/exit-codes.ts';
import { selectEngine, openConfiguredEngine } from '../bench/select-engine.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import type { BenchConfig } from '../config/bench-config.ts';
import { isPublicDataset, publicDatasetNames } from '../config/public-datasets.ts';
import { readRunDatasets } from '../data/join-datasets.ts';
import { type ConversionOptions, convertDataset, sourceFormats } from '../data/convert/convert-dataset.ts';
import { knownFields } from '../data/convert/column-mapping.ts';
import { publicDatasets, datasetCatalogue } from '../data/dataset-catalogue.ts';
import { fileSource, datasetSources } from '../data/dataset-source.ts';
import type { RulerChoice } from '../data/generators/dataset-generator.ts';
import { countTokens } from '../engine/engine.ts';
import { type Verification, verifyDataset } from '../data/verify/verify-dataset.ts';
import { writeText } from '../data/write-lines.ts';
import { printableJson } from '../render/escape-control-characters.ts';
import { shellWord } from '../render/shell-word.ts';
import { publicDatasetsTable, datasetsTable } from '../report/list-command-tables.ts';
import { renderVerification, statisticsLines } from '../report/dataset-verification-text.ts';
import { dataSearch, searchOptions } from './data-search.ts';
import { addConfigOptions, type Flags, type JsonFlag, subcommand, wholeNumber, withExamples } from './options.ts';
import { displayPath, printLines, printResult, printResultTables, terminalPage } from './output.ts';
import { findGenerator } from '../data/generators/generator-registry.ts';
import { rulerData, rulerTasks } from '../data/generators/ruler.ts';
import { BenchError, unknownOptionError } from '../base/bench-error.ts';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { datasetOffer, fetchDataset, type FetchedDataset } from '../data/fetch-dataset.ts';
import { withInterrupt } from './with-interrupt.ts';
import { ProgressDisplay } from './progress.ts';

type MakeFlags = Flags &
  JsonFlag &
  Readonly<Partial<Record<'users' | 'tasks' | 'out', string>>> & { readonly force?: true };
type FetchFlags = JsonFlag & { readonly address?: string; readonly yes?: true };
type ConvertFlags = JsonFlag & Omit<ConversionOptions, 'file'> & { readonly force?: true };

const convertHelp = `
Fields: ${knownFields.join(', ')}.
csv, jsonl: a row holds a user, and a memory, a question, or both. A question without an answer is an
absent item. Evidence is a memory_id, the whole text of a memory, or several separated by ";"; in a row
with a memory and a question, it is by default that memory. Lists are separated by ";", or are JSON lists.
Columns are found by these names, in any case and with or without underscores, or by --map.
locomo: a conversation becomes a user, a turn a memory; questions of category 5 have no answer.
musique-s, 2wiki, hotpotqa, longmemeval: a question becomes a user; its passages, or the turns of its history, are memories.
beam, multi-turn: a chat, or a shared context, becomes a user with several questions; beam also takes a folder of chats.
docs/data.md has examples, and says how each public set is converted.`;

const makeHelp = `
ruler: --lengths are tokens of the memories, by the tokenizer of --model (default: 512); --dataset names the questions
and passages of task qa.`;

export function declare(command: Command): void {
  command.description('make, verify, fetch, convert and search data sets');
  withExamples(command, {
    'data verify mine.jsonl': 'names each invalid line, and the field',
    'data convert --from csv notes.csv --out notes.jsonl': 'a table with a row per memory or question',
    'data search "What does my sister like?" --user u02': 'memories, with scores',
  });
  const made = subcommand(command, 'make <name>', 'generate a data set or the set of a suite from the seed');
  addConfigOptions(made, ['seed', 'model', 'engine', 'contextTokens', 'lengths', 'dataset', 'dataFile'])
    .option('--users <n>', 'number of users (default: as many as it ships with); of ruler, of each task and length')
    .option(
      '--tasks <names>',
      `tasks of ruler, comma-separated: ${rulerTasks.join(', ')} (default: all; qa with --dataset)`,
    )
    .option('--out <file>', 'file to write (default: the name of the set, with .jsonl)')
    .option('--force', 'overwrite the file without asking')
    .addHelpText('after', makeHelp)
    .action(makeData);
  const verified = subcommand(
    command,
    'verify <files>',
    'verify data sets, comma-separated, each alone and all together; exit code 2 on errors, 0 on warnings alone',
  );
  addConfigOptions(verified, ['dataFile', 'errata']).action(verify);
  subcommand(
    command,
    'fetch <name>',
    'fetch a public data set into the cache, after you confirm its licence and address',
  )
    .option('--address <url>', 'address of the file (default: the published one)')
    .option('--yes', 'accept the terms without being asked')
    .action(fetchData);
  subcommand(command, 'convert <file>', 'convert a file of another format')
    .addOption(new Option('--from <format>', 'format of the file').choices(sourceFormats).makeOptionMandatory())
    .requiredOption('--out <file>', 'file to write')
    .option('--errata <file>', 'published audit of locomo, JSON: corrects answers and citations, drops questions')
    .option('--map <fields>', 'columns of fields, such as answer=gold,user=speaker (default: by name)')
    .option(
      '--language <tag>',
      'language of questions and answers, such as en, zh, de or pt-BR (default: what the file says, else en)',
    )
    .option('--name <name>', 'name of the data set (default: what the file says, else the name of --out)')
    .option('--force', 'overwrite an existing file without being asked')
    .addHelpText('after', convertHelp)
    .action(convert);
  const search = command
    .command('search')
    .description('search the memories of a user of a data set, without answering: scores, hints, paths, summary')
    .argument('<question>', 'question, as the user would ask it');
  addConfigOptions(withExamples(search, {}), searchOptions)
    .requiredOption('--user <id>', 'user whose memories are searched, at the time of their latest memory or question')
    .action(dataSearch);
}

export async function listDatasets({ json }: JsonFlag): Promise<void> {
  const entries = await datasetCatalogue();
  const brought = publicDatasets();
  printResultTables(json, [...entries, ...brought], [datasetsTable(entries), publicDatasetsTable(brought)]);
}

async function makeData(name: string, made: MakeFlags): Promise<void> {
  const { users: usersText, tasks, out, json, force, ...flags } = made;
  const generator = findGenerator(name);
  const config = loadBenchConfig({ flags });
  const { seed } = config;
  const users = usersText === undefined ? generator.presetUsers : wholeNumber('--users', usersText, 1);
  const file = out ?? `${generator.name}.jsonl`;
  if (!(await mayWrite(file, force))) return;
  const choice = await rulerChoice(generator.name, tasks, config);
  await using engine = await openConfiguredEngine(selectEngine({ engine: config.engine }), config);
  const { contextTokens } = engine.info;
  const window = { contextTokens, countTokens: (texts: readonly string[]) => countTokens(engine, texts) };
  await writeText(file, await generator.make(seed, users, window, choice));
  const verification = await verifyDataset(fileSource(file));
  printResult(json, { seed, ...verification }, () => [
    `${file}: ${generator.name}, seed ${seed}, sha256 ${verification.sha256}`,
    ...statisticsLines(verification),
  ]);
}

/** @throws BenchError `bad-option` for options of ruler with another set */
async function rulerChoice(name: string, tasks: string | undefined, config: BenchConfig): Promise<RulerChoice> {
  const isGiven = (option: string): boolean => config.given.includes(option);
  const given = tasks === undefined ? ['lengths', 'dataset'].find(isGiven) : 'tasks';
  if (name !== rulerData.name && given !== undefined) {
    throw new BenchError('bad-option', `--${given}: is an option of ruler, not of ${name}`, 'leave it out');
  }
  return {
    tasks: tasks?.split(',').map((task) => task.trim()),
    lengths: isGiven('lengths') ? config.lengths : undefined,
    questions: isGiven('dataset') ? (await readRunDatasets(config)).parts : undefined,
  };
}

async function verify(names: string, { json, ...flags }: Flags & JsonFlag): Promise<void> {
  const config = loadBenchConfig({ flags: { dataset: names, ...flags } });
  const files = config.dataset;
  const verifications: Verification[] = [];
  for (const source of datasetSources(config)) {
    const shown = isPublicDataset(source.place) ? source : fileSource(displayPath(source.place));
    verifications.push(await verifyDataset(shown));
    const notes = source.brought()?.notes.map((note) => `note: ${note}`);
    printLines(notes ?? [], process.stderr);
  }
  process.stdout.write(
    json === true
      ? printableJson(files.length === 1 ? verifications[0] : verifications)
      : verifications.map((verification) => renderVerification(verification, terminalPage())).join('\n'),
  );
  const valid = verifications.every((verification) => verification.valid);
  process.exitCode = valid ? exitCodes.ok : exitCodes.badUsage;
  // Sets whose questions have no answers are for suite retrieval only; a run cannot read them.
  if (!valid || files.length === 1 || verifications.some(({ statistics }) => statistics.questions > 0)) return;
  await readRunDatasets(config);
}

async function convert(file: string, { json, force, ...flags }: ConvertFlags): Promise<void> {
  if (!(await mayWrite(flags.out, force))) return;
  const conversion = await convertDataset({ ...flags, file });
  const { file: written, users, memories, items, notes } = conversion;
  const path = /[/\\.]/.test(written) ? written : `./${written}`;
  printResult(json, conversion, () => [
    `${basename(file)} → ${written}: ${users} users, ${memories} memories, ${items} items`,
    ...notes.map((note) => `note: ${note}`),
    `check it for leaks and duplicates: npx dki-bench data verify ${shellWord(path)}`,
  ]);
}

async function fetchData(name: string, { address, yes, json }: FetchFlags): Promise<void> {
  if (!isPublicDataset(name)) throw unknownOptionError('unknown public data set', name, publicDatasetNames);
  const offer = datasetOffer(name, address);
  const { licence, path, isFetched } = offer;
  if (!isFetched) {
    const terms = [`${name}: ${offer.address}`, `licence: ${licence}`, `stored as: ${displayPath(path)}`];
    printLines(terms, process.stderr);
    if (!(await confirm(`Fetch ${name} on these terms?`, yes === true, 'add --yes to accept the terms'))) {
      process.stderr.write('nothing was fetched\n');
      return;
    }
  }
  await withInterrupt(async (signal) => {
    using display = json === true ? undefined : new ProgressDisplay(process.stderr);
    const fetched = await fetchDataset(offer, { onProgress: display?.showDownload, signal });
    display?.[Symbol.dispose]();
    const document = { ...fetched, licence, ...(isFetched ? {} : { address: offer.address }) };
    printResult(json, document, () => [fetchedLine(fetched, isFetched)]);
  });
}

/** `locomo: 10 users, 1986 questions, PATH; sha256 …, recorded now, since none is published` */
function fetchedLine({ name, path, sha256, hash, users, items }: FetchedDataset, isFetched: boolean): string {
  const where = `${isFetched ? 'in the cache already, ' : ''}${displayPath(path)}`;
  const proof =
    hash === 'recorded' ? 'recorded now, since none is published; later fetches must match it' : 'as recorded';
  return `${name}: ${users} users, ${items} questions, ${where}; sha256 ${sha256}, ${proof}; use it: --dataset ${name}`;
}

interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
}

/** Asks before a file is overwritten, unless forced. */
async function mayWrite(file: string, force: true | undefined): Promise<boolean> {
  const question = `${displayPath(resolve(file))} exists: overwrite it?`;
  if (!existsSync(file) || (await confirm(question, force === true, 'add --force to overwrite it'))) return true;
  process.stderr.write('nothing was written\n');
  return false;
}

/** Asks a question unless `yes`. @param hint what to do without a terminal @throws BenchError `bad-option` if standard input is no terminal */
export async function confirm(
  question: string,
  yes: boolean,
  hint: string,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<boolean> {
  if (yes) return true;
  if (input.isTTY !== true) {
    const message = `there is no terminal to ask on: ${question}`;
    throw new BenchError('bad-option', message, hint);
  }
  const lines = createInterface({ input, output });
  try {
    output.write(`${question} [y/N] `);
    const [answer] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [string?];
    return /^\s*y(?:es)?\s*$/i.test(answer ?? '');
  } finally {
    lines.close();
  }
}
