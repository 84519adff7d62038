/**
 * Draws the tables of the README and of pages in `docs` from the reports in the repository: `npx tsx scripts/readme-tables.ts`. Each table is
 * between two comments, `<!-- table NAME -->` and `<!-- end NAME -->`.
 */
import { type Cell, type Column, estimateCell, formatCell, numberCell, type Row, textCell } from '../src/render/table.ts'; // prettier-ignore
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { BenchError } from '../src/base/bench-error.ts';
import { writeText } from '../src/data/write-lines.ts';
import { type ArmResults, type RunResults, runResults } from '../src/store/records/results.ts';
import { joinedArms } from '../src/eval/suites/suites.ts';
import { renderMarkdown } from '../src/render/markdown.ts';
import { findCondition } from '../src/report/tables/condition-tables.ts';
import { ablationTable } from '../src/report/tables/parts-tables.ts';
import { tableOne } from '../src/report/tables/table-one.ts';
import { chosenMethod, methodsInBrief, passagesInBrief, placementInBrief } from './methods-tables.ts';
import {
  type BareTable,
  costTable,
  finding,
  headlineTable,
  keptTable,
  publicSetTable,
  serverTable,
} from './real-model-tables.ts';
import { runScript } from './run-script.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The same run on both shipped models. */
interface Pair {
  readonly base: RunResults;
  readonly block: RunResults;
}

function readResults(folder: string): RunResults {
  return runResults.parse(JSON.parse(readFileSync(resolve(root, 'reports', folder, 'results.json'), 'utf8')));
}

/** A table without caption and notes, for which the README has its own words. */
function bare(table: BareTable): string {
  const lines = renderMarkdown({ ...table, id: '', caption: '', notes: [] }).split('\n');
  return lines.slice(2).join('\n').trim();
}

/** The vector search behind a table, per model where they differ. */
function vectorSearch(runs: readonly RunResults[]): string {
  const searches = runs.map(({ run: { model, retriever } }) => ({
    model: model.name,
    backend: `${retriever.backend} ${retriever.version}`,
  }));
  const [{ backend }] = searches as [(typeof searches)[number]];
  const isOne = searches.every((search) => search.backend === backend);
  return `Vector search: ${isOne ? backend : searches.map((search) => `${search.backend} (${search.model})`).join(', ')}.`;
}

/** A table of a real model's run, with its vector search. */
function bareTable(draw: (results: RunResults) => BareTable, folder: string): string {
  const results = readResults(folder);
  return `${bare(draw(results))}\n\n${vectorSearch([results])}`;
}

/** Table 1, the hit rate included. */
function mainTable(results: RunResults): string {
  return `${bare(tableOne(results))}\n\n${vectorSearch([results])}`;
}

/** A table with two columns or more for each model, and a row for text and every arm that injects KV. */
function pairTable(
  { base, block }: Pair,
  columns: readonly string[],
  cells: (results: RunResults, arm: ArmResults) => readonly Cell[],
): string {
  const shownArms = base.arms.filter(({ arm }) => joinedArms.includes(arm));
  const models = [base, block];
  const shown = bare({
    rowHeading: 'arm',
    blocks: [
      {
        columns: models.flatMap(({ run }, model) =>
          columns.map((heading, place): Column => {
            const named = place === 0 ? `${run.model.name}, ${heading}` : heading;
            return { key: `${model}:${place}`, heading: named, kind: 'number' };
          }),
        ),
      },
    ],
    rows: shownArms.map(({ arm }): Row => {
      const find = (results: RunResults) => results.arms.find((one) => one.arm === arm)!;
      const values = models.map((results) => cells(results, find(results)));
      const keyed = values.flatMap((row, model) => row.map((cell, place) => [`${model}:${place}`, cell] as const));
      return { label: arm, cells: Object.fromEntries(keyed) };
    }),
  });
  return `${shown}\n\n${vectorSearch(models)}`;
}

function languageShares({ breakdown }: ArmResults): Cell {
  const shares = ['en', 'zh'].map((language) => {
    const part = breakdown.find(({ field, value }) => field === 'language' && value === language);
    const mean = part?.metrics.exactMatch?.mean;
    return formatCell(numberCell(mean === undefined ? undefined : mean * 100));
  });
  return textCell(shares.join(' / '));
}

function qualityTable(pair: Pair): string {
  return pairTable(pair, ['exact match (%)', 'Δ vs its RAG (pp)', 'en / zh (%)'], (results, arm) => {
    const { cells } = ablationTable(results).rows.find(({ label }) => label === arm.arm)!;
    return [cells['exactMatch']!, cells['difference']!, languageShares(arm)];
  });
}

function coreferenceTable(pair: Pair): string {
  return pairTable(pair, ['one memory (%)', 'two memories (%)'], (results, { arm }) =>
    [1, 2].map((memories) => estimateCell(findCondition(results, arm, memories)?.metrics.exactMatch, 100)),
  );
}

/** Recall@5 of the run's embedder and of the one that ships, by category of a data set's questions, with paired differences. */
function embedderTable({ run, measured }: RunResults): BareTable {
  const rows = measured!.retrieval!.rows.filter(({ dataset }) => dataset === run.dataset.name);
  const own = rows.filter(({ strategy }) => strategy === 'router');
  const shipped = rows.filter(({ strategy }) => strategy === 'router, embed-en-zh');
  return {
    rowHeading: 'category',
    blocks: [
      {
        columns: [
          { key: 'questions', heading: 'questions', kind: 'number' },
          { key: 'own', heading: `${run.embedder.name} (%)`, kind: 'interval' },
          { key: 'shipped', heading: 'embed-en-zh (%)', kind: 'interval' },
          { key: 'difference', heading: 'Δ (pp)', kind: 'interval' },
        ],
      },
    ],
    rows: own.map(({ kind, n, metrics }) => {
      const other = shipped.find((row) => row.kind === kind)!;
      return {
        label: kind,
        cells: {
          questions: textCell(String(n)),
          own: estimateCell(metrics.recallAt5, 100),
          shipped: estimateCell(other.metrics.recallAt5, 100),
          difference: estimateCell(other.againstRouter, 100),
        },
      };
    }),
  };
}

const readPair = (base: string, block: string): Pair => ({ base: readResults(base), block: readResults(block) });

const REAL_MODEL = 'smollm2-135m';

/** The drawing of each table, by document. */
export const drawnTables: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'README.md': {
    finding: () => finding(readResults(REAL_MODEL)),
    headline: () => bareTable(headlineTable, REAL_MODEL),
    'chosen method': () =>
      chosenMethod(readResults(`${REAL_MODEL}-methods-dev-placement`), readResults(`${REAL_MODEL}-methods`)),
    shipped: () => bareTable(headlineTable, 'reference/main'),
    server: () => bareTable(serverTable, `${REAL_MODEL}-llama-server`),
  },
  'docs/real-model.md': {
    kept: () => bareTable(keptTable, REAL_MODEL),
    cost: () => bareTable(costTable, REAL_MODEL),
    musique: () => bareTable(publicSetTable, `${REAL_MODEL}-musique`),
    locomo: () => bareTable(publicSetTable, `${REAL_MODEL}-locomo`),
  },
  'docs/methods/README.md': {
    methods: () => bareTable(methodsInBrief, `${REAL_MODEL}-methods`),
    variants: () => bareTable(methodsInBrief, `${REAL_MODEL}-methods-dev-variants`),
    placement: () => bareTable(methodsInBrief, `${REAL_MODEL}-methods-dev-placement`),
    passages: () => bareTable(passagesInBrief, `${REAL_MODEL}-methods-musique`),
  },
  'docs/methods/block-making.md': {
    settings: () => bareTable(placementInBrief, `${REAL_MODEL}-placement`),
  },
  'docs/models.md': {
    embedders: () => bareTable(embedderTable, `${REAL_MODEL}-retrieval`),
  },
  'docs/shipped-models.md': {
    main: () => mainTable(readResults('reference/main')),
    coreference: () => coreferenceTable(readPair('reference/coreference', 'reference-block/coreference')),
    'ten memories': () => qualityTable(readPair('ten-base', 'ten-block')),
    'five memories': () => qualityTable(readPair('reference/ablation', 'reference-block/ablation')),
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
  });
}
