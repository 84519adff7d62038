import type { RunResults } from '../../store/records/results.ts';
import { type Claim, claims } from '../claims.ts';
import { comparisonOf } from '../comparison-of.ts';
import { primaryMetric } from '../shown-metric.ts';
import { captionOf, estimateCell, formatCell, formatNumber, none, type Table, textCell } from '../../render/table.ts';
import { baselineOf } from '../verdict.ts';
import { keptOf } from './methods-table.ts';

type Measured = Claim['measured'][number];

/** `dki-blocks: −12.3 [−20.1, −4.5] points of exact match`; undefined where that arm did not run, or shows nothing. */
function measuredText(results: RunResults, { arm, as }: Measured): string | undefined {
  const primary = primaryMetric(results.run);
  const found = results.arms.find((one) => one.arm === arm);
  const text = baselineOf(results.arms)?.arm;
  if (found === undefined || text === undefined) return undefined;
  if (as === 'kept') {
    const kept = keptOf(results, found);
    return kept === undefined ? undefined : `${arm}: ${formatNumber(kept, 1)} % of the ${primary.label} of ${text}`;
  }
  const metric = as === 'time' ? 'ttftLogRatio' : primary.name;
  const compared = comparisonOf(results, arm, text, metric);
  if (compared === undefined) return undefined;
  const { delta, low, high, verdict } = compared;
  if (as === 'time') {
    const [mean, least, most] = [delta, low, high].map(Math.exp) as [number, number, number];
    return `${arm}: first token ${formatCell(estimateCell({ mean, low: least, high: most }, 1, 2))} × that of ${text}`;
  }
  if (verdict === 'identical') return `${arm}: identical to ${text} on ${compared.n} of ${compared.n}`;
  const difference = formatCell(primary.difference({ mean: delta, low, high }));
  return `${arm}: ${difference} ${primary.differenceUnit} of ${primary.label}`;
}

/** This run's own figure for a claim, in words. */
function measuredHere(results: RunResults, { measured }: Claim): string {
  const texts = measured.flatMap((one) => measuredText(results, one) ?? []);
  return texts.length > 0 ? texts.join('; ') : 'not measured in this run';
}

/** Table 13: what papers claim, beside what is measured here; undefined for a run of another suite. */
export function claimsTable(results: RunResults): Table | undefined {
  const { run, methods } = results;
  if (methods === undefined) return undefined;
  return {
    id: 'table-13',
    caption: captionOf(
      `Table 13. What papers claim, and what is measured on ${run.dataset.name}, ${run.model.name}`,
      results,
    ),
    rowHeading: 'paper',
    blocks: [
      {
        columns: [
          { align: 'left', key: 'claim', heading: 'claim', sentence: true },
          { align: 'left', key: 'model', heading: 'model' },
          { align: 'left', key: 'data', heading: 'data' },
          { align: 'left', key: 'here', heading: 'here', sentence: true },
          { align: 'left', key: 'differs', heading: 'why it may differ', sentence: true },
          { align: 'left', key: 'source', heading: 'source' },
        ],
      },
    ],
    rows: claims.map((claim) => ({
      label: claim.paper,
      cells: {
        claim: textCell(claim.claim),
        model: claim.model === null ? none : textCell(claim.model),
        data: claim.data === null ? none : textCell(claim.data),
        here: textCell(measuredHere(results, claim)),
        differs: textCell(claim.differs),
        source: textCell(claim.address),
      },
    })),
    notes: [
      "Claims are the authors' numbers, against a baseline of their choice; a claim without a source has no row. – where our notes of the paper do not say.",
      'Here: the arm that comes nearest, against the text of the same memories; times over cache hits. No claim is refuted or confirmed by another model on other data.',
    ],
  };
}
