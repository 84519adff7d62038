import type { RunResults } from '../../store/records/results.ts';
import { primaryMetric, type ShownMetric } from '../shown-metric.ts';
import { captionOf, estimateCell, qualityCell, type Block, type Table } from '../../render/table.ts';

const right = { align: 'right', interval: true } as const;

const blocksWith = (primary: ShownMetric): readonly Block[] => [
  {
    title: 'Quality',
    columns: [
      primary.column(),
      { ...right, key: 'abstention', heading: 'abstention', unit: '%' },
      { ...right, key: 'rougeL', heading: 'ROUGE-L', unit: '%' },
    ],
  },
  {
    title: 'Fluency',
    columns: [
      { ...right, key: 'goldLogProbability', heading: 'gold answer', unit: 'ln p' },
      { ...right, key: 'freeLogProbability', heading: 'own answer', unit: 'ln p a token' },
    ],
  },
  {
    title: 'Next token against rag',
    columns: [
      { ...right, key: 'klDivergence', heading: 'KL divergence', unit: 'nats' },
      { ...right, key: 'topOneAgreement', heading: 'same likeliest', unit: '%' },
    ],
  },
];

/** Table 4: recall and fluency by α, which multiplies injected values. */
export function alphaTable(results: RunResults): Table {
  const primary = primaryMetric(results.run);
  return {
    id: 'table-4',
    caption: captionOf('Table 4. Recall and fluency by α, which multiplies the values of injected memories', results),
    rowHeading: 'α',
    blocks: blocksWith(primary),
    rows: results.arms.map(({ arm, traits, metrics }) => ({
      label: String(traits.settings.alpha ?? arm),
      cells: {
        [primary.name]: primary.cell(metrics),
        abstention: qualityCell(results.run, estimateCell(metrics.abstention, 100)),
        rougeL: qualityCell(results.run, estimateCell(metrics.rougeL, 100)),
        goldLogProbability: qualityCell(results.run, estimateCell(metrics.goldLogProbability)),
        freeLogProbability: qualityCell(results.run, estimateCell(metrics.freeLogProbability)),
        klDivergence: qualityCell(results.run, estimateCell(metrics.klDivergence, 1, 2)),
        topOneAgreement: qualityCell(results.run, estimateCell(metrics.topOneAgreement, 100)),
      },
    })),
    notes: [
      'α = 1 leaves the values unchanged: dki then equals rag bit by bit.',
      'Own answer: ln p of what the arm itself answered, right or wrong.',
    ],
  };
}
