import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { BenchError } from '../base/bench-error.ts';
import type { BenchConfig } from '../config/bench-config.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { isPublicDataset } from '../config/public-datasets.ts';
import { readAskedData } from '../data/asked-data.ts';
import { datasetFile, datasetSources } from '../data/dataset-source.ts';
import { convertDataset, type SourceFormat, sourceFormats } from '../data/convert/convert-dataset.ts';
import { knownFields } from '../data/convert/field-names.ts';
import { broughtDatasets, datasetCatalogue } from '../data/dataset-catalogue.ts';
import type { ContextWindow } from '../data/generators/dataset-generator.ts';
import { generatorNamed, makeDataset } from '../data/make-dataset.ts';
import { type Verification, verifySource } from '../data/verify/verify-dataset.ts';
import { broughtTable, datasetsTable } from '../report/list-tables.ts';
import { printable, printableJson } from '../render/printable.ts';
import { renderTerminal } from '../render/terminal.ts';
import { renderVerification, statisticsLines } from '../report/verification-text.ts';
import { shownPath } from './command-line.ts';
import { composeEngine } from '../bench/compose.ts';
import { addConfigOptions } from './config-options.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { fetchData } from './fetch-data.ts';
import { pageOf } from './page.ts';

interface JsonFlag {
  readonly json?: true;
}

interface VerifyFlags extends JsonFlag {
  readonly dataFile?: string;
  readonly errata?: string;
}

interface MakeFlags extends JsonFlag {
  readonly seed?: string;
  readonly users?: string;
  readonly out?: string;
}

interface ConvertFlags extends JsonFlag {
  readonly from: SourceFormat;
  readonly out: string;
  readonly map?: string;
  readonly errata?: string;
  readonly language: 'en' | 'zh';
  readonly name?: string;
}

const convertHelp = `
Fields: ${knownFields.join(', ')}.
csv, jsonl: a row holds a user, and a memory, a question, or both. A question without an answer is an
absent item. Evidence is a memory_id, the whole text of a memory, or several separated by ";"; in a row
with both, the default is its memory. Lists are separated by ";", or are JSON lists. Columns are found by
these names, in any case and with or without underscores, or by --map.
locomo: a conversation becomes a user, a turn a memory; questions of category 5 have no answer.
musique-s, longmemeval: a question becomes a user; its passages, or the turns of its history, are memories.
docs/data.md has examples, and says what is done with each public set.`;

/** Declares `datasets`: what `data list` lists. */
export function declareDatasets(command: Command): void {
  command
    .description('list the data sets that bench --dataset takes')
    .option('--json', 'print one JSON document')
    .action(list);
}

/** Declares `data` with its verbs. */
export function declareData(command: Command): void {
  command.description('list, make, verify, fetch and convert data sets');
  const verb = (name: string, description: string): Command =>
    command
      .command(name)
      .description(description)
      .option('--json', 'print one JSON document')
      .option('--debug', 'show the stack of an error');
  verb(
    'list',
    'list the data sets that ship, those that a suite makes, and public ones whose file you bring or fetch',
  ).action(list);
  addConfigOptions(verb('make <name>', 'make a data set by its name, or by that of its suite, from the seed'), [
    'seed',
    'model',
    'engine',
    'contextTokens',
  ])
    .option('--users <n>', 'number of users (default: as many as it ships with)')
    .option('--out <file>', 'file to write (default: its name, .jsonl)')
    .action(make);
  addConfigOptions(
    verb(
      'verify <files>',
      'verify data sets, comma-separated, each alone and all together; exit code 2 on errors, 0 on warnings alone',
    ),
    ['dataFile', 'errata'],
  ).action(verify);
  verb('fetch <name>', 'fetch a public data set into the cache, after its licence and address were confirmed')
    .option('--address <url>', 'address of the file (default: the published one)')
    .option('--yes', 'confirm without being asked')
    .action(fetchData);
  verb('convert <file>', 'convert a file of another format')
    .addOption(new Option('--from <format>', 'format of the file').choices(sourceFormats).makeOptionMandatory())
    .requiredOption('--out <file>', 'file to write')
    .option('--errata <file>', 'published audit of locomo, JSON: corrects answers and citations, drops questions')
    .option('--map <fields>', 'columns of fields, such as answer=gold,user=speaker (default: by their names)')
    .addOption(new Option('--language <name>', 'language of questions and answers').choices(['en', 'zh']).default('en'))
    .option('--name <name>', 'name of the data set (default: that of the file)')
    .addHelpText('after', convertHelp)
    .action(convert);
}

async function list({ json }: JsonFlag): Promise<void> {
  const entries = await withWindowOf(loadBenchConfig(), datasetCatalogue);
  const brought = broughtDatasets();
  const page = pageOf(process.stdout);
  process.stdout.write(
    json === true
      ? printableJson([...entries, ...brought])
      : `${renderTerminal(datasetsTable(entries), page)}\n${renderTerminal(broughtTable(brought), page)}`,
  );
}

async function make(name: string, { users: usersText, out, json, ...flags }: MakeFlags): Promise<void> {
  const generator = generatorNamed(name);
  const config = loadBenchConfig({ flags });
  const { seed } = config;
  const users = usersText === undefined ? generator.presetUsers : wholeNumber('--users', usersText);
  const file = out ?? `${generator.name}.jsonl`;
  const verification = await withWindowOf(config, (window) =>
    makeDataset(generator, { seed, users, out: file, window }),
  );
  if (json === true) {
    process.stdout.write(printableJson({ seed, ...verification }));
    return;
  }
  const lines = [`${file}: ${generator.name}, seed ${seed}, sha256 ${verification.sha256}`];
  process.stdout.write([...lines, ...statisticsLines(verification)].map((line) => `${printable(line)}\n`).join(''));
}

async function verify(names: string, { json, ...flags }: VerifyFlags): Promise<void> {
  const config = loadBenchConfig({ flags: { dataset: names, ...flags } });
  const files = config.dataset;
  const verifications: Verification[] = [];
  for (const source of datasetSources(config)) {
    const shown = isPublicDataset(source.place) ? source : datasetFile(shownPath(source.place));
    verifications.push(await verifySource(shown));
    for (const note of source.brought()?.notes ?? []) process.stderr.write(`${printable(`note: ${note}`)}\n`);
  }
  const page = pageOf(process.stdout);
  process.stdout.write(
    json === true
      ? printableJson(files.length === 1 ? verifications[0] : verifications)
      : verifications.map((verification) => renderVerification(verification, page)).join('\n'),
  );
  const valid = verifications.every((verification) => verification.valid);
  process.exitCode = valid ? exitCodes.ok : exitCodes.badUsage;
  // Questions without answers are for the suite retrieval alone, which asks no data set.
  if (!valid || files.length === 1 || verifications.some(({ statistics }) => statistics.questions > 0)) return;
  await readAskedData(config);
}

async function convert(file: string, { json, ...flags }: ConvertFlags): Promise<void> {
  const conversion = await convertDataset({ ...flags, file });
  if (json === true) {
    process.stdout.write(printableJson(conversion));
    return;
  }
  const { file: written, users, memories, items, notes } = conversion;
  const path = /[/\\.]/.test(written) ? written : `./${written}`;
  const lines = [
    `${basename(file)} → ${written}: ${users} users, ${memories} memories, ${items} items`,
    ...notes.map((note) => `note: ${note}`),
    `check it for leaks and duplicates: npx dki-bench data verify ${path}`,
  ];
  process.stdout.write(lines.map((line) => `${printable(line)}\n`).join(''));
}

/** Runs `use` with the context window of the configured model, which data sets have to fit. */
async function withWindowOf<T>(
  { engine: name, model, contextTokens }: Pick<BenchConfig, 'engine' | 'model' | 'contextTokens'>,
  use: (window: ContextWindow) => Promise<T>,
): Promise<T> {
  const opener = composeEngine({ engine: name });
  await using engine = await opener.open({ model, ...(contextTokens === undefined ? {} : { contextTokens }) });
  return await use({
    contextTokens: engine.info.contextTokens,
    countTokens: async (texts) =>
      (await engine.tokenize(texts.map((text) => ({ text, as: 'text' })))).map((ids) => ids.length),
  });
}

function wholeNumber(option: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  const message = `${option} ${JSON.stringify(text)}: expected a whole number, 1 or more`;
  throw new BenchError('bad-option', message, 'see --help');
}
