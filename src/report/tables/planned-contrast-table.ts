import { modelContrasts, type ModelContrast } from '../../eval/analysis/compare/model-contrasts.ts';
import { contrastName } from '../../eval/analysis/summary/planned-contrast.ts';
import {
  countColumn,
  estimateCell,
  intervalColumn,
  itemRows,
  numberColumn,
  type Table,
  textColumn,
  titled,
} from '../../render/table.ts';
import { formatNumber } from '../../render/format-number.ts';
import type { MeasuredContrast } from '../../store/records/planned-contrast.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import { lackOfProof } from '../validity-caveats.ts';
import { probabilityCell } from './arm-comparisons-tables.ts';

const measured = ({ contrast: { found } }: ModelContrast): MeasuredContrast | undefined =>
  found.state === 'measured' ? found : undefined;

const PLACES = ['first', 'second'] as const;

/** The planned contrasts of one or several runs, one row per model; undefined if the data plan none. */
export function contrastTable(runs: readonly RunResults[]): Table | undefined {
  const rows = modelContrasts(runs);
  const [first] = rows;
  if (first === undefined) return undefined;
  const models = rows.map(({ results: { run } }) => run.model.name);
  const label = ({ results: { run } }: ModelContrast): string =>
    models.filter((name) => name === run.model.name).length > 1 ? `${run.model.name} (${run.name})` : run.model.name;
  const lacking = rows.flatMap((row) => {
    const lack = lackOfProof(row.results);
    return lack === undefined ? [] : [`${label(row)}: ${lack}`];
  });
  const plans = [...new Set(rows.map(({ results: { run }, contrast }) => planText(run, contrast)))];
  return {
    id: 'contrast',
    caption: `Planned contrast, by model${lacking.length === 0 ? '' : ` (${lacking.join('; ')})`}`,
    rowHeading: 'model',
    ...itemRows(rows, label, [
      titled('Contrast', [
        numberColumn('parameters', 'parameters (M)', ({ results: { run } }) => (run.model.parameters ?? NaN) / 1e6),
        textColumn('data', 'data', ({ results: { run } }) => run.dataset.name),
        intervalColumn('contrast', 'contrast (pp)', measured, 100),
        numberColumn('p', 'p', (row) => probabilityCell(measured(row)?.p)),
        numberColumn('pAdjusted', 'p (Holm)', ({ pAdjusted }) => probabilityCell(pAdjusted)),
        textColumn('verdict', 'verdict', ({ contrast: { found }, verdict }) =>
          found.state === 'absent' ? `absent: ${found.why}` : verdict,
        ),
      ]),
      titled('Smallest contrast that can be shown (pp)', [
        numberColumn('before', 'by plan', ({ contrast: { before } }) => before.detectable && before.detectable * 100),
        numberColumn('after', 'by these items', (row) => (measured(row)?.detectable ?? NaN) * 100),
      ]),
      ...PLACES.map((place, index) =>
        titled(`Difference on the ${place} category`, [
          textColumn<ModelContrast>(`${place}:category`, 'category', (row) => measured(row)?.parts[index]?.category),
          intervalColumn<ModelContrast>(`${place}:difference`, 'Δ (pp)', (row) => measured(row)?.parts[index], 100),
          ...(['n', 'wins', 'losses', 'ties'] as const).map((key) =>
            countColumn<ModelContrast>(`${place}:${key}`, key, (row) => measured(row)?.parts[index]?.[key]),
          ),
        ]),
      ),
      titled('Exploratory: the same contrast in ln p of the gold', [
        intervalColumn('goldLogProb', 'nats per token', (row) => estimateCell(measured(row)?.goldLogProb, 1, 3)),
        textColumn('noise', 'engine', (row) => (isNoise(row) ? 'below its noise' : null)),
      ]),
    ]),
    notes: [
      ...plans,
      'Positive: the arm gains more, or loses less, on the first category. Holm: over the runs of this table with the same data and',
      'contrast, one per model. By plan: before the run, with 80 % power at a two-sided level of 5 %.',
    ],
  };
}

function planText({ dataset }: RunResults['run'], { planned, before }: ModelContrast['contrast']): string {
  const percent = formatNumber(planned.discordance * 100, 0);
  return (
    `${dataset.name}: ${contrastName(planned)}, planned for ${before.items.join(' and ')} independent items if the arms differ on ` +
    `${percent} % of them.`
  );
}

/** Twice the noise of one difference: a contrast is the difference of two. */
function isNoise(row: ModelContrast): boolean {
  const delta = Math.abs(measured(row)?.goldLogProb?.delta ?? 0);
  return delta > 0 && delta <= 2 * (row.results.run.logProbNoise ?? 0);
}
