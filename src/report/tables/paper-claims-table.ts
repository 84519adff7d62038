/** Table 13: claims of papers beside what this run measured. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { formatNumber, formatRatio } from '../../render/format-number.ts';
import { formatCell, sentenceColumn, type Table, textColumn } from '../../render/table.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import { baselineArm, findComparison } from '../find-arms-and-comparisons.ts';
import { primaryMetric } from '../metric-display.ts';
import { keptShare } from './methods-cost-quality-tables.ts';
import { runTable } from './table-parts.ts';

/** A claim of a paper, its source, and the arms of this bench that come closest. */
const claim = z.strictObject({
  paper: z.string(),
  /** URL of the source. */
  address: z.url(),
  claim: z.string(),
  /** Null if unknown. */
  model: z.string().nullable(),
  data: z.string().nullable(),
  measured: z
    .array(
      z.strictObject({
        arm: z.string(),
        /** What to show: the primary metric in % of text, the difference to text, or the ratio of times to first token. */
        as: z.enum(['kept', 'difference', 'time']),
      }),
    )
    .min(1)
    .readonly(),
  differs: z.string(),
});

type Claim = Readonly<z.output<typeof claim>>;

/** Claims of papers, each with its source: `datasets/claims.json`. */
export const claims: readonly Claim[] = z
  .array(claim)
  .parse(JSON.parse(readFileSync(new URL('../../../datasets/claims.json', import.meta.url), 'utf8')));

/** `dki-blocks: −12.3 [−20.1, −4.5] points of exact match`; undefined if the arm did not run or has no such value. */
function measuredText(results: RunResults, { arm, as }: Claim['measured'][number]): string | undefined {
  const primary = primaryMetric(results.run);
  const found = results.arms.find((one) => one.arm === arm);
  const text = baselineArm(results.arms)?.arm;
  if (found === undefined || text === undefined) return undefined;
  if (as === 'kept') {
    const kept = keptShare(results, found);
    return kept === undefined ? undefined : `${arm}: ${formatNumber(kept, 1)} % of the ${primary.label} of ${text}`;
  }
  const compared = findComparison(results, arm, text, as === 'time' ? 'ttftLogRatio' : primary.name);
  if (compared === undefined) return undefined;
  if (as === 'time') return `${arm}: first token ${formatRatio(compared)} × that of ${text}`;
  if (compared.verdict === 'identical') return `${arm}: identical to ${text} on ${compared.n} of ${compared.n}`;
  return `${arm}: ${formatCell(primary.difference(compared))} ${primary.differenceUnit} of ${primary.label}`;
}

/** Table 13: claims of papers beside what this run measured; undefined for a run that compares no methods. */
export function claimsTable(results: RunResults): Table | undefined {
  const { run, methods } = results;
  if (methods === undefined) return undefined;
  const measuredHere = ({ measured }: Claim): string =>
    measured.flatMap((one) => measuredText(results, one) ?? []).join('; ') || 'not measured in this run';
  return runTable(results, claims, ({ paper }) => paper, {
    id: 'table-13',
    title: `Table 13. Claims of papers beside measurements on ${run.dataset.name}, ${run.model.name}`,
    rowHeading: 'paper',
    columns: [
      sentenceColumn('claim', 'claim', (one) => one.claim),
      textColumn('model', 'model', ({ model }) => model),
      textColumn('data', 'data', ({ data }) => data),
      sentenceColumn('here', 'measured here', measuredHere),
      sentenceColumn('differs', 'why it may differ', ({ differs }) => differs),
      textColumn('source', 'source', ({ address }) => address),
    ],
    notes: [
      "Claims are the authors' numbers, against a baseline of their choice. –: not known to us.",
      'Measured here: the closest arm, against the same memories as text; times are over cache hits. Other models and data neither refute nor confirm a claim.',
    ],
  });
}
