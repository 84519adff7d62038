/** Arms that differ in one part: tables 3 (ablations), 3b (placement of blocks) and 4 (α), and figure 4. */
import { present } from '../../base/present.ts';
import { type Figure, PANEL_WIDTH } from '../../render/figure.ts';
import { formatNumber } from '../../render/format-number.ts';
import {
  estimateCell,
  intervalColumn,
  type ItemBlock,
  numberColumn,
  type Table,
  textColumn,
  titled,
} from '../../render/table.ts';
import type { ArmResults, Comparison, RunResults } from '../../store/records/run-results.ts';
import { armEncoding } from '../figures/arm-encoding.ts';
import { distinct, estimateFields, facets, intervalLayer, layer, MEANS, quantity } from '../figures/figure-parts.ts';
import { baselineArm, findComparison, primaryArm } from '../find-arms-and-comparisons.ts';
import { type MetricDisplay, metricsNamed, primaryMetric, qualityCell } from '../metric-display.ts';
import {
  armTable,
  differenceToBaseline,
  hitRateColumn,
  runTable,
  timingNotes,
  withArmsNotRun,
} from '../tables/table-parts.ts';
import { groupDifferences, listed, lossText } from '../verdict-wording.ts';

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

/** `Against rag, exact match is lower at α = 0 (by 89.0 [81.7, 93.6] points), 0.2 and 0.4; unchanged (bit-identical) at 1; …` */
function alphaFinding({ arms, comparisons }: RunResults, quality: MetricDisplay): string {
  const baseline = baselineArm(arms)?.arm;
  const alphas = new Map(arms.map(({ arm, traits }) => [arm, traits.settings.alpha]));
  const compared = comparisons
    .filter(({ a, b, metric }) => metric === quality.name && b === baseline && alphas.get(a) !== undefined)
    .sort((one, other) => alphas.get(one.a)! - alphas.get(other.a)!);
  if (compared.length === 0) return `${quality.title} by α; no arms were compared`;
  const { identical, lower, higher, kept, none } = groupDifferences(compared);
  const part = (words: string, some: readonly Comparison[], isSized = false) => {
    const values = some.map((one, index) => {
      const alpha = String(alphas.get(one.a)!);
      return isSized && index === 0 ? `${alpha} (by ${lossText(one, quality)})` : alpha;
    });
    return some.length > 0 && `${words} at ${isSized ? 'α = ' : ''}${listed(values)}`;
  };
  const parts = present([
    part('lower', lower, true),
    part('higher', higher, true),
    part('unchanged (bit-identical)', identical),
    part('kept within the margin', kept),
    part('undecided', none),
  ]);
  return `Against ${baseline!}, ${quality.label} is ${parts.join('; ')}`;
}

/** Figure 4: recall and fluency by α; undefined if no arm varies α or quality is unknown. */
export function alphaFigure(results: RunResults): Figure | undefined {
  const primary = primaryMetric(results.run);
  const rag = baselineArm(results.arms);
  const varied = results.arms
    .flatMap(
      ({
        metrics,
        traits: {
          base: arm,
          settings: { alpha },
        },
      }) => (alpha === undefined ? [] : { arm, alpha, metrics }),
    )
    .sort((a, b) => a.alpha - b.alpha);
  const panels = [
    { metric: primary.name, panel: `${primary.title}, ${primary.unit}`, scale: primary.scale },
    { metric: 'goldLogProbability', panel: 'Gold answer, ln p', scale: 1 },
    { metric: 'freeLogProbability', panel: 'Own answer, ln p per token', scale: 1 },
  ].filter(({ metric }) => varied.some(({ metrics }) => metrics[metric]));
  const data = panels.flatMap(({ metric, panel, scale }) =>
    present([...varied, rag && { ...rag, alpha: null }]).flatMap(({ arm, alpha, metrics }) => {
      const estimate = metrics[metric];
      return estimate ? [{ panel, arm, alpha, ...estimateFields(estimate, scale) }] : [];
    }),
  );
  if (data.length === 0) return undefined;
  const { color, shape } = armEncoding(results, distinct(data.map(({ arm }) => arm)));
  const words = panels.map(({ panel }) => {
    const points = data.filter((row) => row.panel === panel && row.alpha !== null);
    return `${panel}: ${points.map(({ alpha, value }) => `${formatNumber(value, 2)} at ${alpha!}`).join(', ')}`;
  });
  const values = varied.map(({ alpha }) => alpha);
  const x = { field: 'alpha', ...quantity('α, which multiplies the values of injected memories', {}, { values }) };
  const y = { field: 'value', ...quantity(null, {}, { tickCount: 4 }) };
  return {
    id: 'alpha',
    title: `Figure 4. ${alphaFinding(results, primary)}`,
    key: `${MEANS} The dashed line is rag.`,
    description: `By α, with 95 % intervals; the dashed line is rag. ${words.join('; ')}.`,
    data,
    spec: {
      resolve: { scale: { y: 'independent' } },
      ...facets('panel', distinct(data.map(({ panel }) => panel)), 1, {
        width: PANEL_WIDTH,
        height: 105,
        encoding: { color },
        layer: [
          {
            ...intervalLayer('y', y, { encoding: { x } }),
            transform: [{ filter: 'isValid(datum.alpha) && isValid(datum.low)' }],
          },
          layer('isValid(datum.alpha)', 'line', { x, y }),
          layer('isValid(datum.alpha)', 'point', { x, y, shape }),
          layer('!isValid(datum.alpha)', { type: 'rule', strokeDash: [5, 4] }, { y }),
        ],
      }),
    },
  };
}
