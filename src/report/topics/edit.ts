/** Table 15: what answers say after a memory has changed behind its stored KV, and what each way evaluates. */
import { estimateMean, estimateShare } from '../../eval/analysis/statistics/estimate-mean.ts';
import { shareGain } from '../../eval/analysis/statistics/paired-quality.ts';
import { countColumn, intervalColumn, numberColumn, type Table } from '../../render/table.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import { type EditMeasurement, editOutcomes, type EditWay, editWays } from '../../store/records/suite-measurements.ts';
import { runTable } from '../tables/table-parts.ts';

type Answer = EditMeasurement['answers'][number];

type WayAnswers = ReturnType<typeof byWay>[number];

/** The answers of each way to the questions of each data set, with those behind the rebuilt prefix. */
function byWay(measured: readonly EditMeasurement[]) {
  return [...Map.groupBy(measured, ({ dataset }) => dataset)].flatMap(([dataset, questions]) =>
    editWays.map((way) => ({
      way,
      dataset,
      pairs: questions.map(({ userId, answers }) => {
        const answer = (wanted: EditWay) => answers.find((one) => one.way === wanted)!;
        return { userId, own: answer(way), rebuilt: answer('rebuild') };
      }),
    })),
  );
}

function share({ pairs }: WayAnswers, holds: (answer: Answer) => boolean) {
  return estimateShare(pairs.map(({ userId, own }) => ({ userId, value: Number(holds(own)) })));
}

function gain({ way, pairs }: WayAnswers) {
  if (way === 'rebuild') return null;
  const isNew = ({ says }: Answer): number => Number(says === 'new');
  return shareGain(pairs.map(({ userId, own, rebuilt }) => ({ userId, a: isNew(own), b: isNew(rebuilt) })));
}

function evaluated({ pairs }: WayAnswers): number | null {
  const known = pairs.flatMap(({ userId, own }) => (own.evaluated === null ? [] : { userId, value: own.evaluated }));
  return estimateMean(known)?.mean ?? null;
}

export function editTable(results: RunResults, measured: readonly EditMeasurement[]): Table {
  const datasets = new Set(measured.map(({ dataset }) => dataset));
  const moved = measured.filter(({ value: { before, after } }) => before !== after).length;
  return runTable(results, byWay(measured), ({ way, dataset }) => (datasets.size === 1 ? way : `${way}, ${dataset}`), {
    id: 'table-15',
    title: `Table 15. Answers after a memory has changed behind its stored KV: ${results.run.model.name}`,
    rowHeading: 'way',
    columns: [
      ...editOutcomes.map((outcome) =>
        intervalColumn<WayAnswers>(
          outcome,
          outcome === 'neither' ? 'neither (%)' : `${outcome} value (%)`,
          (row) => share(row, ({ says }) => says === outcome),
          100,
        ),
      ),
      intervalColumn('difference', 'new: Δ vs rebuild (pp)', gain, 100),
      numberColumn('same', 'same answer as rebuild (%)', (row) => share(row, (one) => one.sameAsRebuilt)!.mean * 100),
      numberColumn('evaluated', 'tokens evaluated', evaluated),
      countColumn('n', 'n', ({ pairs }) => pairs.length),
    ],
    notes: [
      'In the retrieved memories the new value stands in the place of the old one. rebuild: all is evaluated. append: the correction as text',
      'behind the old prefix. block: joined blocks, the changed one computed alone. splice: all from the value on is evaluated. overwrite: the',
      "value's own tokens are, and the cells behind them stay. unchanged: the old prefix, as a control. Neither: also both values.",
      `Tokens evaluated: up to the first token, mean. In ${moved} of ${measured.length} questions the values have different numbers of`,
      'tokens: overwrite then rotates the keys of all cells behind them. Intervals: 95 %, over users.',
    ],
  });
}
