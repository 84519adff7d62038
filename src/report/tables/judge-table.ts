import type { RunResults, VerdictAgreement } from '../../store/records/results.ts';
import { metricNamed } from '../shown-metric.ts';
import { type Block, captionOf, type Cell, countCell, meanCell, none, type Table } from '../../render/table.ts';

const right = { align: 'right' } as const;

function agreementCells(agreement: VerdictAgreement | null): Record<string, Cell> {
  if (agreement === null) return {};
  const { n, share, kappa } = agreement;
  return {
    n: countCell(n),
    agreement: meanCell(100 * share),
    kappa: kappa === null ? none : { kind: 'number', value: kappa, digits: 2 },
  };
}

/** The verdicts of a judge by arm, and its agreement with `contains`; undefined of a run that asked none. */
export function judgeTable(results: RunResults): Table | undefined {
  const { run, arms, judge } = results;
  if (judge === undefined) return undefined;
  const [verdict, contains] = [metricNamed(run, 'judge')!, metricNamed(run, 'contains')!];
  const blocks: readonly Block[] = [
    {
      title: 'Right answers',
      columns: [
        verdict.column(),
        contains.column(),
        { ...right, key: 'judged', heading: 'judged' },
        { ...right, key: 'unjudged', heading: 'no verdict' },
      ],
    },
    {
      title: 'Judge and contains',
      columns: [
        { ...right, key: 'agreement', heading: 'agree', unit: '%' },
        { ...right, key: 'kappa', heading: "Cohen's κ" },
        { ...right, key: 'n', heading: 'answers' },
      ],
    },
  ];
  return {
    id: 'judge',
    caption: captionOf(`Answers as ${judge.model} judges them`, results),
    rowHeading: 'arm',
    blocks,
    rows: [
      ...judge.arms.map(({ arm, judged, unjudged, agreement }) => ({
        label: arm,
        cells: {
          [verdict.name]: verdict.cell(arms.find((one) => one.arm === arm)?.metrics ?? {}),
          [contains.name]: contains.cell(arms.find((one) => one.arm === arm)?.metrics ?? {}),
          judged: countCell(judged),
          unjudged: countCell(unjudged),
          ...agreementCells(agreement),
        },
      })),
      { label: 'all', cells: agreementCells(judge.agreement) },
    ],
    notes: [
      'Over answerable items; an answer without a verdict is in no mean. A model that judges can be wrong, and can be talked into a verdict by the answer: see docs/metrics.md.',
      `${judge.asked} answers were sent to the judge, ${judge.known} verdicts were known. It was asked at temperature 0: ${judge.prompt.replaceAll(/\s+/g, ' ')}`,
    ],
  };
}
