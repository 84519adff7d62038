/** Tables of arms that differ in one part: 3 (ablations), 3b (placement of blocks) and 4 (α). */
import type { ArmResults, RunResults } from '../../store/records/run-results.ts';
import { estimateCell, intervalColumn, type ItemBlock, numberColumn, type Table, textColumn, titled } from '../../render/table.ts'; // prettier-ignore
import { baselineArm, primaryArm, findComparison } from '../find-arms-and-comparisons.ts';
import { metricsNamed, primaryMetric, qualityCell } from '../metric-display.ts';
import { armTable, differenceToBaseline, hitRateColumn, runTable, timingNotes, withArmsNotRun } from './table-parts.ts';

function nextTokenBlock(run: RunResults['run'], title: string): ItemBlock<ArmResults> {
  return titled(title, [
    intervalColumn('klDivergence', 'KL divergence (nats)', ({ metrics }) =>
      qualityCell(run, estimateCell(metrics.klDivergence, 1, 2)),
    ),
    intervalColumn('topOneAgreement', 'same top token (%)', ({ metrics }) =>
      qualityCell(run, estimateCell(metrics.topOneAgreement, 100)),
    ),
  ]);
}

/** Quality, next token and cost of arms that each change one part. */
function partsTable(results: RunResults, { id, title, notes }: { id: string; title: string; notes: string[] }): Table {
  const { run, arms } = results;
  const primary = primaryMetric(run);
  const baseline = baselineArm(arms)?.arm;
  // Only a primary arm defines cache hits and misses.
  const hasHits = primaryArm(arms) !== undefined;
  const table = armTable(results, {
    id,
    title,
    blocks: [
      titled('Quality', [
        primary.column(),
        differenceToBaseline(results, primary),
        textColumn('verdict', 'verdict', ({ arm }) => findComparison(results, arm, baseline, primary.name)?.verdict),
      ]),
      nextTokenBlock(run, 'Next token against text with the same prompt'),
      titled('Cost', [
        numberColumn(
          'evaluated',
          hasHits ? 'tokens evaluated (cache hits)' : 'tokens evaluated',
          (arm) => arm.tokens?.evaluated,
        ),
        hasHits &&
          numberColumn('evaluatedMiss', 'tokens evaluated (cache misses)', (arm) => arm.costMiss?.tokens.evaluated),
        hitRateColumn,
        intervalColumn('ttftMs', hasHits ? 'TTFT, cache hits (ms)' : 'TTFT (ms)', ({ metrics }) => metrics.ttftMs),
      ]),
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
      'tokens of each recomputed (dki-link:K), shared positions (dki-parallel), gated injection (dki-gated), only preferences as KV',
      "(dki-hybrid), the retriever's summary (summary), order by rank (placement=rank), labels without numbers (labels=bullet), the model's",
      'chat template (template=chat). Verdicts are against rag; the next token is compared with rag on the same prompt, if that arm ran.',
      ...timingNotes(results.run),
    ],
  });
}

export function placementTable(results: RunResults): Table {
  return partsTable(results, {
    id: 'table-3b',
    title: 'Table 3b. Computation and placement of blocks, one option at a time',
    notes: [
      'dki-blocks computes a block after the header and places it after the previous block. Options compute it alone (context=none) or',
      'also after the previous memory (context=previous); put the first N tokens of the prompt before each block and drop or keep them',
      '(sink=N, sink=N:kept); or start all blocks right after the header (dki-parallel), with keys divided by T (temperature=T: APE',
      'without its scale). A cache miss builds the blocks that are not stored. Verdicts are against rag.',
    ],
  });
}

export function alphaTable(results: RunResults): Table {
  const { run, arms } = results;
  const logProbability = (key: 'goldLogProbability' | 'freeLogProbability', heading: string) =>
    intervalColumn(key, heading, ({ metrics }: ArmResults) => qualityCell(run, estimateCell(metrics[key])));
  const metrics = [primaryMetric(run), ...metricsNamed(run, 'abstention', 'rougeL')];
  const quality = metrics.map((metric) => metric.column<ArmResults>());
  return runTable(results, arms, ({ arm, traits }) => String(traits.settings.alpha ?? arm), {
    id: 'table-4',
    title: 'Table 4. Recall and fluency by α, which multiplies the values of injected memories',
    rowHeading: 'α',
    blocks: [
      titled('Quality', quality),
      titled('Fluency', [
        logProbability('goldLogProbability', 'gold answer (ln p)'),
        logProbability('freeLogProbability', 'own answer (ln p per token)'),
      ]),
      nextTokenBlock(run, 'Next token against rag'),
    ],
    notes: ['With α = 1, dki equals rag bit by bit.', 'Own answer: the answer that the arm gave, right or wrong.'],
  });
}
