import { type ItemColumn, itemRows, numberColumn, partColumns, type Table, textCell } from '../../render/table.ts';
import { present } from '../../base/present.ts';
import { countText, formatDifference, formatNumber, formatRatio, ratioDigits } from '../../render/format-number.ts';
import type { ArmResults, Comparison, RunResults } from '../../store/records/run-results.ts';
import { baselineArm, findComparison, prefixCacheArm, primaryArm } from '../find-arms-and-comparisons.ts';
import { plansContrast, primaryMetric } from '../metric-display.ts';

/** Most arms, so that the table with its headings has eight lines. */
const MAX_ARMS = 7;

const marks: Readonly<Partial<Record<Comparison['verdict'], readonly [mark: string, meaning: string]>>> = {
  kept: ['✓', 'kept within the margin'],
  lost: ['✗', 'lost'],
  undecided: ['?', 'undecided'],
  'too few users': ['·', 'too few users for a verdict'],
};

/** Arms that could be used first, then bounds and closed book; no twins and no arms with another user's memories. */
function shownArms(arms: readonly ArmResults[]): ArmResults[] {
  const ranks = ['baseline', 'primary', 'planned', 'exploratory'];
  const rank = ({ traits }: ArmResults): number =>
    traits.control !== null || traits.deployable === false || traits.retrieves === 'evidence'
      ? ranks.length
      : ranks.indexOf(traits.comparison);
  const usable = arms.filter(({ n, traits }) => n > 0 && traits.control !== 'twin' && traits.retrieves !== 'donor');
  const chosen = new Set(usable.toSorted((a, b) => rank(a) - rank(b)).slice(0, MAX_ARMS));
  return arms.filter((arm) => chosen.has(arm));
}

/** `✗ −6.1 [−12.0, −1.7]`: a difference to the baseline with the mark of its verdict. */
function verdictText(compared: Comparison, scale: number, digits: number): string {
  if (compared.verdict === 'identical') return 'identical';
  return present([marks[compared.verdict]?.[0], formatDifference(compared, scale, digits)]).join(' ');
}

function qualityColumns(results: RunResults, rag: string): readonly ItemColumn<ArmResults>[] {
  const { run } = results;
  const { name, label, unit, scale, digits, of } = primaryMetric(run);
  if (run.unknownQuality !== null) return [];
  const mean = ({ metrics }: ArmResults) => (of(metrics)?.mean ?? NaN) * scale;
  const right = numberColumn('quality', unit === '%' ? 'right' : label, mean, digits);
  // Where a contrast of categories is planned, no difference over all of them stands first.
  if (plansContrast(run)) return [right];
  const compared = ({ arm }: ArmResults) => findComparison(results, arm, rag, name);
  const verdict = (found: Comparison) => textCell(verdictText(found, scale, digits));
  return [right, ...partColumns(compared, [numberColumn('difference', `Δ vs ${rag}`, verdict)])];
}

/** Time to first token over all turns, relative to text and to a prefix cache, as far as they were compared. */
function timeColumns(results: RunResults, shown: readonly ArmResults[], intervals: boolean): ItemColumn<ArmResults>[] {
  const rag = baselineArm(results.arms);
  return [rag, prefixCacheArm(results.arms)].flatMap((other) => {
    const compared = ({ arm }: ArmResults) => findComparison(results, arm, other?.arm, 'ttftLogRatioAll');
    if (other === undefined || shown.every((arm) => compared(arm) === undefined)) return [];
    const heading = `${intervals || other === rag ? 'TTFT ÷' : '÷'} ${other.arm}`;
    const ratio = (found: Comparison) =>
      textCell(intervals ? formatRatio(found) : formatNumber(Math.exp(found.delta), ratioDigits(found.delta)));
    return partColumns(compared, [numberColumn(`ttft:${other.arm}`, heading, ratio)]);
  });
}

function markNotes({ comparisons, run }: RunResults, shown: readonly ArmResults[], rag: string): string[] {
  const own = comparisons.filter(({ a, b, metric }) => {
    return b === rag && metric === primaryMetric(run).name && shown.some(({ arm }) => arm === a);
  });
  const used = Object.entries(marks).filter(([name]) => own.some(({ verdict }) => verdict === name));
  return used.length === 0 || plansContrast(run) ? [] : [`${used.map(([, meaning]) => meaning.join(' ')).join(', ')}.`];
}

/**
 * The first table of a run: right answers of each arm, and time to first token against text and against a prefix cache; undefined
 * for a run without arms to compare. @param intervals false leaves out those of times, for narrow pages
 */
export function answerTable(results: RunResults, intervals = true): Table | undefined {
  const { arms, run } = results;
  const rag = baselineArm(arms)?.arm;
  const shown = shownArms(arms);
  if (rag === undefined || shown.length < 2) return undefined;
  const [quality, times] = [qualityColumns(results, rag), timeColumns(results, shown, intervals)];
  if (quality.length + times.length === 0) return undefined;
  const primary = primaryMetric(run);
  const items = Math.max(...shown.map(({ metrics }) => primary.of(metrics)?.n ?? 0));
  const what = primary.unit === '%' ? `Right: ${primary.label}, % of` : `${primary.title} of`;
  const primaryTurns = primaryArm(arms)?.turns;
  const hits = primaryTurns === undefined ? '' : `, ${countText(primaryTurns.hit, 'cache hit')}`;
  const turns = Math.max(...shown.map(({ n }) => n));
  const more = arms.length - shown.length;
  return {
    id: 'answer',
    caption: present([
      quality.length > 0 && `${what} ${items} items, ${run.dataset.users} users`,
      times.length > 0 && `TTFT: ${countText(turns, 'turn')}${hits}`,
    ]).join('; '),
    rowHeading: 'arm',
    ...itemRows(shown, ({ arm }) => arm, [{ columns: [...quality, ...times] }]),
    notes: present([...markNotes(results, shown, rag), more > 0 && `${countText(more, 'more arm')} in the report.`]),
  };
}
