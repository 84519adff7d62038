/** Tables that grade answers: 1b (wrong answers by class, evidence funnel), and the verdicts of a judge. */
import { type FunnelStage, funnelStages, wrongClasses } from '../../store/records/turn-record.ts';
import type { ArmResults, RunResults, VerdictAgreement } from '../../store/records/run-results.ts';
import { countColumn, numberCell, numberColumn, partColumns, type Table, titled } from '../../render/table.ts';
import { metricsNamed, qualityCell } from '../metric-display.ts';
import { armTable, runTable } from './table-parts.ts';

/** Headings of stages whose names do not say enough. */
const stageHeadings: Readonly<Partial<Record<FunnelStage, string>>> = {
  kept: 'in the prompt',
  sequence: 'in the sequence',
};

export function wrongAnswersTable(results: RunResults): Table {
  const { run } = results;
  const { withoutEvidence } = run.dataset;
  const repeats = Number(run.settings['repeats'] ?? 1);
  const wrongColumns = wrongClasses.map((key) => {
    const heading = key === 'wrong-abstention' ? 'abstained' : key.replace('-', ' ');
    return numberColumn(key, heading, ({ wrong }: ArmResults) => qualityCell(run, numberCell(wrong?.[key], 0)));
  });
  const funnelColumns = funnelStages.map((stage) =>
    numberColumn(stage, stageHeadings[stage] ?? stage, ({ funnel }: ArmResults) => {
      const count = numberCell(funnel[stage], 0);
      return stage === 'answered' ? qualityCell(run, count) : count;
    }),
  );
  return armTable(results, {
    id: 'table-1b',
    title: 'Table 1b. Wrong answers by class, and the evidence funnel',
    blocks: [titled('Wrong answers', wrongColumns), titled('Evidence funnel of answerable items', funnelColumns)],
    notes: [
      'A wrong answer falls into the first class that fits: abstained; superseded, an outdated value; confused, the value ' +
        'of another memory in the prompt; near copy; fabricated, a value that was not in the prompt; off topic.',
      'An item leaves the funnel at the first stage that fails.',
      repeats > 1 && `Each of the ${repeats} repeats of an item counts.`,
      withoutEvidence !== undefined && `${withoutEvidence} items with unknown evidence are not in the funnel.`,
    ],
  });
}

/** Verdicts of a judge by arm, and their agreement with `contains`; undefined for a run without a judge. */
export function judgeTable(results: RunResults): Table | undefined {
  const { run, arms, judge } = results;
  if (judge === undefined) return undefined;
  type JudgedRow = Partial<(typeof judge.arms)[number]> & { readonly agreement: VerdictAgreement | null };
  const rows: readonly JudgedRow[] = [...judge.arms, { agreement: judge.agreement }];
  const metrics = metricsNamed(run, 'judge', 'contains', ...(judge.rubricPrompt === undefined ? [] : ['rubric']));
  const verdicts = partColumns(
    ({ arm }: JudgedRow) => arms.find((one) => one.arm === arm),
    metrics.map((metric) => metric.column()),
  );
  return runTable(results, rows, ({ arm = 'all' }) => arm, {
    id: 'judge',
    title: `Answers as judged by ${judge.model}`,
    blocks: [
      titled('Right answers', [
        ...verdicts,
        countColumn('judged', 'judged', ({ judged }) => judged),
        countColumn('unjudged', 'no verdict', ({ unjudged }) => unjudged),
      ]),
      titled('Judge and contains', [
        numberColumn('agreement', 'agreement (%)', ({ agreement }) => agreement && 100 * agreement.share),
        numberColumn('kappa', "Cohen's κ", ({ agreement }) => agreement?.kappa, 2),
        countColumn('n', 'answers', ({ agreement }) => agreement?.n),
      ]),
    ],
    notes: [
      'Over answerable items; means leave out answers without a verdict. A judge can be wrong, and an answer can talk it into a verdict: see docs/metrics.md.',
      `${judge.asked} answers were sent to the judge, ${judge.known} verdicts were reused. Its prompt, at temperature 0: ${judge.prompt.replaceAll(/\s+/g, ' ')}`,
      judge.rubricPrompt !== undefined &&
        `rubric: mean grade, 0, ½ or 1, of the points of an answer. Its prompt: ${judge.rubricPrompt.replaceAll(/\s+/g, ' ')}`,
    ],
  });
}
