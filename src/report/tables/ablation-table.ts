import type { Comparison, RunResults } from '../../store/records/results.ts';
import { comparisonOf } from '../comparison-of.ts';
import { primaryMetric, type ShownMetric } from '../shown-metric.ts';
import { loadNotes } from '../load-notes.ts';
import { baselineOf, primaryOf } from '../verdict.ts';
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
} from '../../render/table.ts';

const right = { align: 'right' } as const;

/** @param divides whether costs are those of cache hits, an arm that divides turns into hits and misses being in the run */
const blocksWith = (primary: ShownMetric, divides: boolean): readonly Block[] => [
  {
    title: 'Quality',
    columns: [
      primary.column(),
      { ...right, key: 'difference', heading: 'against rag', unit: primary.differenceUnit, interval: true },
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
      { ...right, key: 'evaluated', heading: divides ? 'evaluated (hit)' : 'evaluated' },
      ...(divides ? [{ ...right, key: 'evaluatedMiss', heading: 'evaluated (miss)' }] : []),
      { ...right, key: 'hitRate', heading: 'hit rate', unit: '%' },
      { ...right, key: 'ttftMs', heading: divides ? 'first token (hit)' : 'first token', unit: 'ms', interval: true },
    ],
  },
];

function difference(comparison: Comparison | undefined, primary: ShownMetric): Cell {
  if (comparison === undefined) return none;
  const { delta, low, high } = comparison;
  return primary.difference({ mean: delta, low, high });
}

/** A table whose arms differ in one part at a time. */
interface PartsTable extends Pick<Table, 'id' | 'notes'> {
  readonly title: string;
}

/** The arms of a run one below the other: quality, the next token, and cost. */
export function partsTable(results: RunResults, { id, title, notes }: PartsTable): Table {
  const primary = primaryMetric(results.run);
  const baseline = baselineOf(results.arms)?.arm;
  const comparedWith = (arm: string): Comparison | undefined => comparisonOf(results, arm, baseline, primary.name);
  return {
    id,
    caption: captionOf(title, results),
    rowHeading: 'arm',
    blocks: blocksWith(primary, primaryOf(results.arms) !== undefined),
    rows: [
      ...results.arms.map(({ arm, metrics, tokens, costMiss, hitRate }) => ({
        label: arm,
        cells: {
          [primary.name]: primary.cell(metrics),
          difference: difference(comparedWith(arm), primary),
          verdict: textCell(comparedWith(arm)?.verdict ?? '–'),
          klDivergence: qualityCell(results.run, estimateCell(metrics.klDivergence, 1, 2)),
          topOneAgreement: qualityCell(results.run, estimateCell(metrics.topOneAgreement, 100)),
          evaluated: meanCell(tokens?.evaluated),
          evaluatedMiss: meanCell(costMiss?.tokens.evaluated),
          hitRate: hitRate === null ? none : meanCell(hitRate * 100),
          ttftMs: estimateCell(metrics.ttftMs),
        },
      })),
      ...results.run.armsNotRun.map(({ arm, why }) => ({
        label: arm,
        cells: { verdict: textCell(`not run: ${why}`) },
      })),
    ],
    notes,
  };
}

/** Table 3: each part off, or replaced, in turn. */
export function ablationTable(results: RunResults): Table {
  return partsTable(results, {
    id: 'table-3',
    title: 'Table 3. Each part off in turn',
    notes: [
      'Changed from dki, which is exact: no K/V (rag), memories that do not see each other (dki-blocks), the first K tokens of',
      'each recomputed (dki-link:K), shared positions (dki-parallel), injection by a gate (dki-gated), preferences alone as K/V',
      "(dki-hybrid), the retriever's summary (summary), order by rank (placement=rank), labels without numbers (labels=bullet), the chat template of the model",
      '(template=chat). Verdicts are against rag; the next token is compared with the rag of the same prompt, if it ran.',
      ...loadNotes(results.run),
    ],
  });
}
