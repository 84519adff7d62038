import type { ArmResults, BreakdownPart, RunResults } from '../../eval/results.ts';
import { type Block, type Cell, estimateCell, qualityCell } from '../table.ts';

const metrics = [
  { metric: 'exactMatch', heading: 'exact match' },
  { metric: 'abstention', heading: 'abstention' },
  { metric: 'taskSuccess', heading: 'task success' },
] as const;

const languageNames = new Intl.DisplayNames(['en'], { type: 'language' });

function partsOf({ breakdown }: ArmResults): BreakdownPart[] {
  return breakdown.filter(({ by }) => by === 'language');
}

/** Quality in each language, the columns of the quality of all; none where the users of the run speak one. */
export function languageBlocks(arms: readonly ArmResults[]): Block[] {
  const languages = [...new Set(arms.flatMap((arm) => partsOf(arm).map(({ value }) => value)))].sort();
  return languages.map((language) => ({
    title: `Quality, ${languageNames.of(language) ?? language}`,
    columns: metrics.map(({ metric, heading }) => ({
      key: `${language}:${metric}`,
      heading,
      unit: '%',
      align: 'right',
      interval: true,
    })),
  }));
}

/** The cells of these blocks. */
export function languageCells(run: RunResults['run'], arm: ArmResults): Record<string, Cell> {
  return Object.fromEntries(
    partsOf(arm).flatMap((part) =>
      metrics.map(({ metric }) => [`${part.value}:${metric}`, qualityCell(run, estimateCell(part[metric], 100))]),
    ),
  );
}
