import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { BenchError } from '../config/bench-error.ts';
import { loadBenchConfig } from '../config/load-config.ts';
import { readAskedData } from '../eval/dataset/asked-data.ts';
import { convertDataset, type SourceFormat, sourceFormats } from '../eval/dataset/convert/convert-dataset.ts';
import { knownFields } from '../eval/dataset/convert/field-names.ts';
import { datasetCatalogue } from '../eval/dataset/dataset-catalogue.ts';
import { inModelRoom } from '../eval/dataset/model-room.ts';
import { generatorNamed, makeDataset } from '../eval/dataset/make-dataset.ts';
import { verifyDataset, type Verification } from '../eval/dataset/verify/verify-dataset.ts';
import { datasetsTable } from '../report/datasets-table.ts';
import { printable, printableJson } from '../report/render/printable.ts';
import { renderTerminal } from '../report/render/terminal.ts';
import { renderVerification, statisticsLines } from '../report/verification-text.ts';
import { shownPath } from './command-line.ts';
import { addConfigOptions } from './config-options.ts';
import { exitCodes } from './failure.ts';
import { pageOf } from './page.ts';

interface JsonFlag {
  readonly json?: true;
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
  readonly language: 'en' | 'zh';
  readonly name?: string;
}

const convertHelp = `
Fields: ${knownFields.join(', ')}.
csv, jsonl: a row holds a memory, a question, or both, and always a user; a question without an answer is
one that nothing answers. Evidence is a memory_id, a memory's whole text, or several with ";" between; of a
row with both, the memory is the evidence where it names none. Lists are written with ";" between, or as
JSON lists. Columns are found by these names, in any spelling of case and underscores, or by --map.
locomo: one conversation becomes one user, one turn one memory; questions of category 5 have no answer.`;

/** Declares `data` with its verbs. */
export function declareData(command: Command): void {
  command.description('list, make, verify and convert data sets');
  const verb = (name: string, description: string): Command =>
    command
      .command(name)
      .description(description)
      .option('--json', 'print one JSON document')
      .option('--debug', 'show the stack of an error');
  verb('list', 'the data sets that ship, and those that a suite makes').action(list);
  addConfigOptions(verb('make <name>', 'make the data set of that name, or of that suite, by seed'), [
    'seed',
    'model',
    'contextTokens',
  ])
    .option('--users <n>', 'how many users (default: as many as it ships with)')
    .option('--out <file>', 'the file to be written (default: its name, .jsonl)')
    .action(make);
  verb(
    'verify <files>',
    'examine a data set, or several by comma, alone and together: exit 2 on errors, 0 where there are only warnings',
  ).action(verify);
  verb('convert <file>', 'convert a file of another format')
    .addOption(new Option('--from <format>', 'what it is').choices(sourceFormats).makeOptionMandatory())
    .requiredOption('--out <file>', 'the file to be written')
    .option('--map <fields>', 'which columns hold which fields, such as answer=gold,user=speaker')
    .addOption(new Option('--language <name>', 'of questions and answers').choices(['en', 'zh']).default('en'))
    .option('--name <name>', 'of the data set (default: that of the file)')
    .addHelpText('after', convertHelp)
    .action(convert);
}

async function list({ json }: JsonFlag): Promise<void> {
  const entries = await inModelRoom(loadBenchConfig(), datasetCatalogue);
  process.stdout.write(
    json === true ? printableJson(entries) : renderTerminal(datasetsTable(entries), pageOf(process.stdout)),
  );
}

async function make(name: string, { users: usersText, out, json, ...flags }: MakeFlags): Promise<void> {
  const generator = generatorNamed(name);
  const config = loadBenchConfig({ flags });
  const { seed } = config;
  const users = usersText === undefined ? generator.presetUsers : wholeNumber('--users', usersText);
  const file = out ?? `${generator.name}.jsonl`;
  const verification = await inModelRoom(config, (room) => makeDataset(generator, { seed, users, out: file, room }));
  if (json === true) {
    process.stdout.write(printableJson({ seed, ...verification }));
    return;
  }
  const lines = [`${file}: ${generator.name}, seed ${seed}, sha256 ${verification.sha256}`];
  process.stdout.write([...lines, ...statisticsLines(verification)].map((line) => `${printable(line)}\n`).join(''));
}

async function verify(names: string, { json }: JsonFlag): Promise<void> {
  const files = loadBenchConfig({ flags: { dataset: names } }).dataset.map(shownPath);
  const verifications: Verification[] = [];
  for (const file of files) verifications.push(await verifyDataset(file));
  const page = pageOf(process.stdout);
  process.stdout.write(
    json === true
      ? printableJson(files.length === 1 ? verifications[0] : verifications)
      : verifications.map((verification) => renderVerification(verification, page)).join('\n'),
  );
  const valid = verifications.every((verification) => verification.valid);
  process.exitCode = valid ? exitCodes.ok : exitCodes.badUsage;
  // Questions without answers are nobody's to be asked, together or alone.
  if (!valid || files.length === 1 || verifications.some(({ statistics }) => statistics.questions > 0)) return;
  await readAskedData(files);
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
    `look for leaks and duplicates: npx dki-bench data verify ${path}`,
  ];
  process.stdout.write(lines.map((line) => `${printable(line)}\n`).join(''));
}

function wholeNumber(option: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  const message = `${option} ${JSON.stringify(text)}: expected a whole number, 1 or more`;
  throw new BenchError('bad-option', message, 'see --help');
}
