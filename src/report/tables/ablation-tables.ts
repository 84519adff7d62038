/** Tables of arms that differ in one part: 3 (ablations), 3b (placement of blocks) and 4 (α). */
import type { ArmResults, RunResults } from '../../store/records/run-results.ts';
import { estimateCell, intervalColumn, type ItemBlock, numberColumn, type Table, textColumn } from '../../render/table.ts'; // prettier-ignore
import { baselineArm, primaryArm } from '../arms-by-role.ts';
import { findComparison } from '../find-comparison.ts';
import { timingNotes } from '../timing-notes.ts';
import { metricsNamed, primaryMetric, qualityCell } from '../metric-display.ts';
import { armTable, differenceToBaseline, hitRateColumn, runTable, withArmsNotRun } from './table-parts.ts';

function nextTokenBlock(run: RunResults['run'], title: string): ItemBlock<ArmResults> {
  return {
    title,
    columns: [
      intervalColumn('klDivergence', 'KL divergence (nats)', ({ metrics }) =>
        qualityCell(run, estimateCell(metrics.klDivergence, 1, 2)),
      ),
      intervalColumn('topOneAgreement', 'same top token (%)', ({ metrics }) =>
        qualityCell(run, estimateCell(metrics.topOneAgreement, 100)),
      ),
    ],
  };
}

const evaluatedMiss = numberColumn(
  'evaluatedMiss',
  'tokens evaluated (cache misses)',
  ({ costMiss }: ArmResults) => costMiss?.tokens.evaluated,
);

/** Arms that differ in one part at a time: quality, the next token, and cost. */
function partsTable(results: RunResults, { id, title, notes }: { id: string; title: string; notes: string[] }): Table {
  const { run, arms } = results;
  const primary = primaryMetric(run);
  const baseline = baselineArm(arms)?.arm;
  // Without a primary arm nothing divides turns into cache hits and misses.
  const divides = primaryArm(arms) !== undefined;
  const table = armTable(results, {
    id,
    title,
    blocks: [
      {
        title: 'Quality',
        columns: [
          primary.column(),
          differenceToBaseline(results, primary),
          textColumn('verdict', 'verdict', ({ arm }) => findComparison(results, arm, baseline, primary.name)?.verdict),
        ],
      },
      nextTokenBlock(run, 'Next token against text with the same prompt'),
      {
        title: 'Cost',
        columns: [
          numberColumn(
            'evaluated',
            `tokens evaluated${divides ? ' (cache hits)' : ''}`,
            ({ tokens }) => tokens?.evaluated,
          ),
          ...(divides ? [evaluatedMiss] : []),
          hitRateColumn,
          intervalColumn('ttftMs', divides ? 'TTFT, cache hits (ms)' : 'TTFT (ms)', ({ metrics }) => metrics.ttftMs),
        ],
      },
    ],
    notes,
  });
  return withArmsNotRun(table, run, 'verdict');
}

export function ablationTable(results: RunResults): Table {
  return partsTable(results, {
    id: 'table-3',
    title: 'Table 3. Ablations',
    notes: [
      'Each arm changes one part of dki, which is exact: no KV (rag), memories that do not see each other (dki-blocks), the first K',
      'tokens of each recomputed (dki-link:K), shared positions (dki-parallel), injection by a gate (dki-gated), only preferences as KV',
      "(dki-hybrid), the retriever's summary (summary), order by rank (placement=rank), labels without numbers (labels=bullet), the model's",
      'chat template (template=chat). Verdicts are against rag; the next token is compared with the rag of the same prompt, if it ran.',
      ...timingNotes(results.run),
    ],
  });
}

export function placementTable(results: RunResults): Table {
  return partsTable(results, {
    id: 'table-3b',
    title: 'Table 3b. How blocks are made and placed, one option at a time',
    notes: [
      'A block of dki-blocks is computed behind the header and placed behind the block before it. Changed: it is computed alone',
      '(context=none) or also behind the memory before it (context=previous); the first N tokens of the prompt are put before each block',
      'and dropped or kept (sink=N, sink=N:kept); all blocks start right behind the header (dki-parallel), their keys divided by T',
      '(temperature=T: APE without its scale). A miss builds what the store lacks. Verdicts are against rag.',
    ],
  });
}

export function alphaTable(results: RunResults): Table {
  const { run, arms } = results;
  const logProbability = (key: 'goldLogProbability' | 'freeLogProbability', heading: string) =>
    intervalColumn(key, heading, ({ metrics }: ArmResults) => qualityCell(run, estimateCell(metrics[key])));
  const quality = [primaryMetric(run), ...metricsNamed(run, 'abstention', 'rougeL')];
  return runTable(results, arms, ({ arm, traits }) => String(traits.settings.alpha ?? arm), {
    id: 'table-4',
    title: 'Table 4. Recall and fluency by α, which multiplies the values of injected memories',
    rowHeading: 'α',
    blocks: [
      { title: 'Quality', columns: quality.map((metric) => metric.column()) },
      {
        title: 'Fluency',
        columns: [
          logProbability('goldLogProbability', 'gold answer (ln p)'),
          logProbability('freeLogProbability', 'own answer (ln p per token)'),
        ],
      },
      nextTokenBlock(run, 'Next token against rag'),
    ],
    notes: [
      'α = 1 leaves the values unchanged: dki then equals rag bit by bit.',
      'Own answer: ln p of the answer that the arm gave, right or wrong.',
    ],
  });
}
