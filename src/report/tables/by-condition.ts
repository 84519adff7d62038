import type { ConditionResults, RunResults } from '../../store/records/results.ts';
import { primaryMetric } from '../shown-metric.ts';
import { formatNumber, meanCell, none, type Block, type Cell, type Column, type Row } from '../../render/table.ts';

/** A group of columns, one for each arm. */
export interface ArmBlock {
  readonly title: string;
  readonly unit?: string;
  /** One column each; two blocks may show the same arm. */
  readonly arms: readonly string[];
  readonly interval?: true;
  readonly cell: (results: ConditionResults) => Cell;
}

/** The conditions of a run in ascending order. */
function conditionsOf({ conditions }: RunResults): number[] {
  return [...new Set(conditions.map(({ condition }) => condition))].sort((a, b) => a - b);
}

/** The results of an arm under a condition; by default over all places of the evidence. */
export function under(
  { conditions }: RunResults,
  arm: string,
  condition: number,
  place: ConditionResults['place'] = null,
): ConditionResults | undefined {
  return conditions.find((one) => one.arm === arm && one.condition === condition && one.place === place);
}

/** `25 %` */
export function shareLabel(condition: number): string {
  return `${formatNumber(condition * 100, 0)} %`;
}

/** Blocks of the primary metric and evaluated tokens, by arm. */
export function answersAndCost({ run, arms: all }: RunResults): ArmBlock[] {
  const arms = all.map(({ arm }) => arm);
  const primary = primaryMetric(run);
  return [
    {
      title: primary.title,
      unit: primary.unit,
      interval: true,
      arms,
      cell: ({ metrics }) => primary.cell(metrics),
    },
    { title: 'Evaluated tokens', arms, cell: ({ tokens }) => meanCell(tokens.evaluated) },
  ];
}

/** Conditions as rows, arms as columns in blocks. */
export function byCondition(
  results: RunResults,
  blocks: readonly ArmBlock[],
  label: (condition: number) => string,
): { readonly blocks: readonly Block[]; readonly rows: readonly Row[] } {
  const bases = new Map(results.arms.map(({ arm, traits }) => [arm, traits.base]));
  const key = (block: ArmBlock, arm: string): string => `${block.title}: ${arm}`;
  const column = (block: ArmBlock, arm: string): Column => ({
    key: key(block, arm),
    heading: bases.get(arm) ?? arm,
    ...(block.unit === undefined ? {} : { unit: block.unit }),
    align: 'right',
    ...(block.interval === undefined ? {} : { interval: block.interval }),
  });
  return {
    blocks: blocks.map((block) => ({ title: block.title, columns: block.arms.map((arm) => column(block, arm)) })),
    rows: conditionsOf(results).map((condition) => ({
      label: label(condition),
      cells: Object.fromEntries(
        blocks.flatMap((block) =>
          block.arms.map((arm) => {
            const found = under(results, arm, condition);
            return [key(block, arm), found === undefined ? none : block.cell(found)] as const;
          }),
        ),
      ),
    })),
  };
}
