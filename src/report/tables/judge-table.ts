import type { RunResults, VerdictAgreement } from '../../store/records/results.ts';
import { countColumn, itemRows, none, numberColumn, type Table } from '../../render/table.ts';
import { titleWithProof } from '../proof.ts';
import { metricNamed } from '../shown-metric.ts';

/** The verdicts of a judge by arm, and its agreement with `contains`; undefined for a run without a judge. */
export function judgeTable(results: RunResults): Table | undefined {
  const { run, arms, judge } = results;
  if (judge === undefined) return undefined;
  type JudgedRow = Partial<(typeof judge.arms)[number]> & { readonly agreement: VerdictAgreement | null };
  const rows: readonly JudgedRow[] = [...judge.arms, { agreement: judge.agreement }];
  const verdicts = ['judge', 'contains'].map((name) => {
    const metric = metricNamed(run, name)!;
    return {
      ...metric.column(),
      cell: ({ arm }: JudgedRow) =>
        arm === undefined ? none : metric.cell(arms.find((one) => one.arm === arm)?.metrics ?? {}),
    };
  });
  return {
    id: 'judge',
    caption: titleWithProof(`Answers as judged by ${judge.model}`, results),
    rowHeading: 'arm',
    ...itemRows(rows, ({ arm = 'all' }) => arm, [
      {
        title: 'Right answers',
        columns: [
          ...verdicts,
          countColumn('judged', 'judged', ({ judged }) => judged),
          countColumn('unjudged', 'no verdict', ({ unjudged }) => unjudged),
        ],
      },
      {
        title: 'Judge and contains',
        columns: [
          numberColumn('agreement', 'agreement (%)', ({ agreement }) => agreement && 100 * agreement.share),
          numberColumn('kappa', "Cohen's κ", ({ agreement }) => agreement?.kappa, 2),
          countColumn('n', 'answers', ({ agreement }) => agreement?.n),
        ],
      },
    ]),
    notes: [
      'Over answerable items; an answer without a verdict is in no mean. A model that judges can be wrong, and an answer can talk it into a verdict: see docs/metrics.md.',
      `${judge.asked} answers were sent to the judge, ${judge.known} verdicts were known. Its prompt, at temperature 0: ${judge.prompt.replaceAll(/\s+/g, ' ')}`,
    ],
  };
}
