import type { Comparison, RunResults } from '../../eval/results.ts';
import {
  captionOf,
  estimateCell,
  qualityCell,
  meanCell,
  none,
  type Block,
  type Cell,
  type Table,
  textCell,
} from '../table.ts';

const right = { align: 'right' } as const;

const blocks: readonly Block[] = [
  {
    title: 'Quality',
    columns: [
      { ...right, key: 'exactMatch', heading: 'exact match', unit: '%', interval: true },
      { ...right, key: 'difference', heading: 'against rag', unit: 'points', interval: true },
      { align: 'left', key: 'verdict', heading: 'verdict' },
    ],
  },
  {
    title: 'Next token against the text of the same prompt',
    columns: [
      { ...right, key: 'klDivergence', heading: 'KL divergence', unit: 'nats', interval: true },
      { ...right, key: 'topOneAgreement', heading: 'same likeliest', unit: '%', interval: true },
    ],
  },
  {
    title: 'Cost',
    columns: [
      { ...right, key: 'evaluated', heading: 'evaluated (seen)' },
      { ...right, key: 'evaluatedNew', heading: 'evaluated (new)' },
      { ...right, key: 'hitRate', heading: 'hit rate', unit: '%' },
      { ...right, key: 'ttftMs', heading: 'first token (seen)', unit: 'ms', interval: true },
    ],
  },
];

function difference(comparison: Comparison | undefined): Cell {
  if (comparison === undefined) return none;
  const { delta, low, high } = comparison;
  return estimateCell({ mean: delta, low, high }, 100);
}

/** Arms of the suite that the model could not run, as the settings of the run hold them. */
function armsNotRun({ run }: RunResults): readonly { readonly arm: string; readonly why: string }[] {
  const { armsNotRun: arms = [] } = run.settings as {
    readonly armsNotRun?: readonly { readonly arm: string; readonly why: string }[];
  };
  return arms;
}

/** Table 3: each part off, or another, in turn. */
export function ablationTable(results: RunResults): Table {
  const quality = new Map(
    results.comparisons.filter(({ metric }) => metric === 'exactMatch').map((one) => [one.a, one]),
  );
  return {
    id: 'table-3',
    caption: captionOf('Table 3. Each part off in turn', results),
    rowHeading: 'arm',
    blocks,
    rows: [
      ...results.arms.map(({ arm, metrics, tokens, costNew, hitRate }) => ({
        label: arm,
        cells: {
          exactMatch: qualityCell(results.run, estimateCell(metrics.exactMatch, 100)),
          difference: difference(quality.get(arm)),
          verdict: textCell(quality.get(arm)?.verdict ?? '–'),
          klDivergence: qualityCell(results.run, estimateCell(metrics.klDivergence)),
          topOneAgreement: qualityCell(results.run, estimateCell(metrics.topOneAgreement, 100)),
          evaluated: meanCell(tokens?.evaluated),
          evaluatedNew: meanCell(costNew?.tokens.evaluated),
          hitRate: hitRate === null ? none : meanCell(hitRate * 100),
          ttftMs: estimateCell(metrics.ttftMs),
        },
      })),
      ...armsNotRun(results).map(({ arm, why }) => ({ label: arm, cells: { verdict: textCell(`not run: ${why}`) } })),
    ],
    notes: [
      'Off from dki, which is exact: K/V (rag), seeing each other (dki-blocks), tokens linked again (dki-link:K), positions of',
      'their own (dki-parallel), always injecting (dki-gated), memories as K/V beside preferences (dki-hybrid), order by age',
      '(placement=rank), labels that depend on the place (labels=bullet), the words of the bench around them (template=chat).',
      'Against rag as the run has it; the next token against the rag of the same prompt, where the run has one.',
    ],
  };
}
