import type { ArmResults, BreakdownPart, RunResults } from '../../records/results.ts';
import { type Block, type Cell, estimateCell, qualityCell } from '../table.ts';

const metrics = [
  { metric: 'exactMatch', heading: 'exact match' },
  { metric: 'abstention', heading: 'abstention' },
  { metric: 'taskSuccess', heading: 'task success' },
] as const;

const languageNames = new Intl.DisplayNames(['en'], { type: 'language' });

function partsOf({ breakdown }: ArmResults): BreakdownPart[] {
  return breakdown.filter(({ field }) => field === 'language');
}

/** Blocks of quality by language, with the columns of the overall quality; none for a run in one language. */
export function languageBlocks(arms: readonly ArmResults[]): Block[] {
  const languages = [...new Set(arms.flatMap((arm) => partsOf(arm).map(({ value }) => value)))].sort();
  if (languages.length < 2) return [];
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

/** The cells of `languageBlocks`. */
export function languageCells(run: RunResults['run'], arm: ArmResults): Record<string, Cell> {
  return Object.fromEntries(
    partsOf(arm).flatMap((part) =>
      metrics.map(({ metric }) => [
        `${part.value}:${metric}`,
        qualityCell(run, estimateCell(part.metrics[metric], 100)),
      ]),
    ),
  );
}
