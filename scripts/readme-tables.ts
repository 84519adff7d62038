/**
 * Draws the tables of the README and of pages in `docs`, and the README's figure of the ladder, from the reports in the repository:
 * `npx tsx scripts/readme-tables.ts`. Each table is between two comments, `<!-- table NAME -->` and `<!-- end NAME -->`.
 */
import { type Cell, itemRows, numberColumn } from '../src/render/table.ts';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { BenchError } from '../src/base/bench-error.ts';
import { writeText } from '../src/data/write-lines.ts';
import { type ArmResults, type RunResults, runResults } from '../src/store/records/run-results.ts';
import { totals, wayName } from '../src/eval/analysis/summary/length-break-even.ts';
import { quantiles } from '../src/eval/analysis/statistics/estimate-mean.ts';
import { groupedNumber } from '../src/render/format-number.ts';
import { atFullLayers, editOutcomes } from '../src/store/records/suite-measurements.ts';
import { editTable } from '../src/report/topics/edit.ts';
import { reuseTable } from '../src/report/topics/reuse.ts';
import { joinedBlockComparison } from '../src/eval/suites/suites.ts';
import { renderMarkdown } from '../src/render/table-markdown.ts';
import { ablationTable } from '../src/report/topics/ablation.ts';
import { modelSizeFigure } from '../src/report/topics/categories.ts';
import { pictureFile, renderFigure } from '../src/render/figure.ts';
import { ladderFindings, ladderTable } from './ladder-table.ts';
import { type BareTable, methodsInBrief, pickColumns, qualityAndCostTable } from './real-model-tables.ts';
import { runScript } from './run-script.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The same run on both shipped models. */
type Pair = readonly [base: RunResults, block: RunResults];

function readResults(folder: string): RunResults {
  return runResults.parse(JSON.parse(readFileSync(resolve(root, 'reports', folder, 'results.json'), 'utf8')));
}

/** A table without caption and notes, for which a page has its own words. */
function captionless(table: BareTable): string {
  const lines = renderMarkdown({ ...table, id: '', caption: '', notes: [] }).split('\n');
  return lines.slice(2).join('\n').trim();
}

/** A table without caption and notes, and the vector search, per model where they differ. */
function bare(table: BareTable, runs: readonly RunResults[]): string {
  const byBackend = Map.groupBy(runs, ({ run: { retriever } }) => `${retriever.backend} ${retriever.version}`);
  const searches = Array.from(byBackend, ([backend, of]) =>
    byBackend.size === 1 ? backend : of.map(({ run }) => `${backend} (${run.model.name})`).join(', '),
  );
  return `${captionless(table)}\n\nVector search: ${searches.join(', ')}.`;
}

/** A table of a real model's run, with its vector search. */
function bareTable(draw: (results: RunResults) => BareTable, folder: string): string {
  const results = readResults(folder);
  return bare(draw(results), [results]);
}

/** A heading, and the cell of an arm below it. */
type PairColumn = readonly [heading: string, cell: (results: RunResults, arm: ArmResults) => Cell];

/** A table with two columns or more for each model, and a row for text and every arm that injects KV. */
function pairTable(models: Pair, columns: readonly PairColumn[]): string {
  const modelColumns = models.flatMap((results, model) =>
    columns.map(([heading, cell], place) => {
      const named = place === 0 ? `${results.run.model.name}, ${heading}` : heading;
      const own = ({ arm }: ArmResults) => results.arms.find((one) => one.arm === arm)!;
      return numberColumn(`${model}:${place}`, named, (arm: ArmResults) => cell(results, own(arm)));
    }),
  );
  const shownArms = models[0].arms.filter(({ arm }) => joinedBlockComparison.includes(arm));
  const rows = itemRows(shownArms, ({ arm }) => arm, [{ columns: modelColumns }]);
  return bare({ rowHeading: 'arm', ...rows }, models);
}

function qualityTable(pair: Pair): string {
  const cells = (results: RunResults, { arm }: ArmResults) =>
    ablationTable(results).rows.find(({ label }) => label === arm)!.cells;
  return pairTable(pair, [
    ['exact match (%)', (...of) => cells(...of)['exactMatch']!],
    ['Δ vs its RAG (pp)', (...of) => cells(...of)['difference']!],
  ]);
}

/** For KV in f16, by way and tier: its time at the longest length, × that of the text, for each model. */
function lengthsTable(runs: readonly RunResults[]): string {
  const models = runs.map(({ run, measured }) => ({
    name: run.model.name,
    measurements: atFullLayers(measured!.length!),
  }));
  const columns = models.map(({ name: model, measurements }) => {
    const longest = Math.max(...measurements.map(({ tokens }) => tokens));
    const p50 = (name: string): number =>
      quantiles(totals(measurements.find((row) => row.tokens === longest && wayName(row) === name)!)).p50;
    const heading = `${model}, ${groupedNumber(longest)} tokens`;
    return numberColumn(model, heading, (name: string) => p50(name) / p50('text'), 3);
  });
  const names = models[0]!.measurements.map(wayName).filter((name) => name !== 'text' && !/ q\d/.test(name));
  return bare({ rowHeading: 'KV', ...itemRows([...new Set(names)], (name) => name, [{ columns }]) }, runs);
}

const readPair = (base: string, block: string): Pair => [readResults(base), readResults(block)];

const REAL_MODEL = 'smollm2-135m';

/** What answers say after a memory has changed, on English questions, and the tokens evaluated, by model and way. */
function editsTable(runs: readonly RunResults[]): string {
  const shown = [...editOutcomes.filter((outcome) => outcome !== 'neither'), 'evaluated'];
  const tables = runs.map((results) => editTable(results, results.measured!.edit!));
  const rows = tables.flatMap((table, place) =>
    table.rows
      .filter(({ label }) => !label.includes('-zh'))
      .map((row) => ({ ...row, label: `${runs[place]!.run.model.name}: ${row.label.split(',')[0]}` })),
  );
  const columns = tables[0]!.blocks[0]!.columns.filter(({ key }) => shown.includes(key));
  return bare({ rowHeading: 'model: way', blocks: [{ columns }], rows }, runs);
}

/** Table 16 in brief: what is counted of each arm, by the meter and the simulator alike. */
const playedTable = (results: RunResults): BareTable =>
  pickColumns(reuseTable(results, results.measured!.reuse!), ['evaluatedTokens', 'entries', 'evicted', 'differing']);

/** Suite `edit` on real models. */
const editReports = ['edit/smollm2-135m', 'edit/qwen2.5-coder-0.5b', 'edit/qwen2.5-coder-1.5b'];

/** The same questions on models of different sizes. */
const ladderReports = ['ladder/smollm2-135m', 'ladder/qwen2.5-coder-0.5b', 'ladder/qwen2.5-coder-1.5b'];

/** Chinese questions of the same kinds. */
const chineseReports = ['ladder/qwen2.5-coder-0.5b-zh', 'ladder/qwen2.5-coder-1.5b-zh'];

/** Suite `reuse`. */
const REUSE = 'reuse/recall-base';

/** Suite `length` on real models. */
const lengthReports = ['length/smollm2-135m', 'length/qwen2.5-coder-0.5b', 'length/qwen2.5-coder-1.5b'];

function categoriesTable(reports: readonly string[]): string {
  const runs = reports.map(readResults);
  return bare(ladderTable(runs), runs);
}

/** The differences by kind of question and size of model: the file and its text. */
export async function drawModelSizes(): Promise<readonly [path: string, svg: string]> {
  const arms = ['dki-blocks', 'dki-blocks@context=previous', 'dki-ranked:.3'];
  const figure = modelSizeFigure(ladderReports.map(readResults), arms)!;
  return ['reports/ladder/by-model-size.svg', pictureFile(await renderFigure(figure))];
}

/** The drawing of each table, by document. */
export const drawnTables: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'README.md': {
    finding: () => captionless(ladderFindings(ladderReports.map(readResults))),
  },
  'docs/real-model.md': { arms: () => bareTable(qualityAndCostTable, REAL_MODEL) },
  'docs/ladder.md': { ladder: () => categoriesTable(ladderReports), chinese: () => categoriesTable(chineseReports) },
  'docs/methods/README.md': { methods: () => bareTable(methodsInBrief, `${REAL_MODEL}-methods`) },
  'docs/when-it-pays.md': {
    played: () => bareTable(playedTable, REUSE),
    lengths: () => lengthsTable(lengthReports.map(readResults)),
    edits: () => editsTable(editReports.map(readResults)),
  },
  'docs/shipped-models.md': {
    'ten memories': () => qualityTable(readPair('ten-base', 'ten-block')),
  },
};

/**
 * Puts tables between their comments in a document. @param document its path in the repository
 * @throws BenchError `bad-data` if the comments of a table are missing
 */
export async function replaceTables(
  document: string,
  text: string,
  tables: Readonly<Record<string, () => string>>,
): Promise<string> {
  let drawn = text;
  for (const [name, draw] of Object.entries(tables)) {
    const [start, end] = [`<!-- table ${name} -->`, `<!-- end ${name} -->`];
    const [before, between] = drawn.split(start);
    const after = between?.split(end)[1];
    if (after === undefined) throw new BenchError('bad-data', `${document}: no ${start} … ${end}`, 'add both');
    drawn = `${before!}${start}\n\n${draw()}\n\n${end}${after}`;
  }
  return format(drawn, { ...(await resolveConfig(resolve(root, document))), parser: 'markdown' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runScript(async () => {
    for (const [document, tables] of Object.entries(drawnTables)) {
      const file = resolve(root, document);
      await writeText(file, await replaceTables(document, readFileSync(file, 'utf8'), tables));
    }
    const [path, svg] = await drawModelSizes();
    await writeText(resolve(root, path), svg);
  });
}
