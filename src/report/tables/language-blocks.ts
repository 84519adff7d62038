import type { ArmResults, BreakdownPart, RunResults } from '../../store/records/results.ts';
import { primaryMetric } from '../shown-metric.ts';
import { type Block, type Cell, type Column, estimateCell, qualityCell } from '../../render/table.ts';

const more = [
  { metric: 'abstention', heading: 'abstention' },
  { metric: 'taskSuccess', heading: 'task success' },
] as const;

const languageNames = new Intl.DisplayNames(['en'], { type: 'language' });

function partsOf({ breakdown }: ArmResults): BreakdownPart[] {
  return breakdown.filter(({ field }) => field === 'language');
}

/** Blocks of quality by language, with the columns of the overall quality; none for a run in one language. */
export function languageBlocks({ run, arms }: Pick<RunResults, 'run' | 'arms'>): Block[] {
  const languages = [...new Set(arms.flatMap((arm) => partsOf(arm).map(({ value }) => value)))].sort();
  if (languages.length < 2) return [];
  const primary = primaryMetric(run);
  return languages.map((language) => ({
    title: `Quality, ${languageNames.of(language) ?? language}`,
    columns: [
      primary.column(`${language}:${primary.name}`),
      ...more.map(({ metric, heading }): Column => ({
        key: `${language}:${metric}`,
        heading,
        unit: '%',
        align: 'right',
        interval: true,
      })),
    ],
  }));
}

/** The cells of `languageBlocks`. */
export function languageCells(run: RunResults['run'], arm: ArmResults): Record<string, Cell> {
  const primary = primaryMetric(run);
  return Object.fromEntries(
    partsOf(arm).flatMap((part) => [
      [`${part.value}:${primary.name}`, primary.cell(part.metrics)] as const,
      ...more.map(
        ({ metric }) => [`${part.value}:${metric}`, qualityCell(run, estimateCell(part.metrics[metric], 100))] as const,
      ),
    ]),
  );
}
