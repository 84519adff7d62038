import { memoize } from '../../base/memoize.ts';
import { type Figure, pictureFile, renderFigure, renderFigureData, renderSpecification } from '../../render/figure.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import { titleWithProof } from '../validity-caveats.ts';
import { coherenceFigure, contextFigure, coreferenceFigure, recallFigure } from '../topics/conditions.ts';
import { categoryFigure } from '../topics/categories.ts';
import { ablationFigure, alphaFigure } from '../topics/ablation.ts';
import { retrievalFigure } from '../topics/retrieval.ts';
import { leakFigure, servingFigure, storageFigure } from '../topics/storage-isolation-serving.ts';
import { lengthFigure } from '../topics/length.ts';
import { methodsFigure } from '../topics/methods.ts';
import { reuseFigure } from '../topics/reuse.ts';
import { breakEvenFigure, frontierFigure, phasesFigure } from '../topics/times.ts';

const figuresBySuite: Readonly<Record<string, readonly ((results: RunResults) => Figure | undefined)[]>> = {
  main: [categoryFigure, frontierFigure, breakEvenFigure],
  context: [contextFigure],
  ablation: [ablationFigure],
  alpha: [alphaFigure],
  latency: [breakEvenFigure],
  coherence: [coherenceFigure],
  retrieval: [retrievalFigure],
  storage: [storageFigure],
  isolation: [leakFigure],
  coreference: [coreferenceFigure],
  methods: [methodsFigure],
  serving: [servingFigure],
  length: [lengthFigure],
  reuse: [reuseFigure],
  scaling: [frontierFigure, phasesFigure, recallFigure],
};

/** The figures of a run: those of its suite with data, and the figure of methods if the run compares methods. */
export function reportFigures(results: RunResults): Figure[] {
  const ofSuite = figuresBySuite[results.run.suite] ?? [];
  const ofMethods = results.methods === undefined || ofSuite.includes(methodsFigure) ? [] : [methodsFigure];
  return [...ofSuite, ...ofMethods]
    .flatMap((draw) => draw(results) ?? [])
    .map((figure) => ({ ...figure, title: titleWithProof(figure.title, results) }));
}

export type DrawnFigure = Awaited<ReturnType<typeof drawnFigures>>[number];

/** Draws the figures of a run. Memoized, since they go to their own files, the page of the run and the page of its group. */
export const drawnFigures = memoize(async (results: RunResults) => {
  const figures: { readonly figure: Figure; readonly svg: string }[] = [];
  for (const figure of reportFigures(results)) figures.push({ figure, svg: await renderFigure(figure) });
  return figures;
});

export async function figureFiles(results: RunResults): Promise<(readonly [path: string, content: string])[]> {
  return (await drawnFigures(results)).flatMap(({ figure, svg }) => [
    [`figures/${figure.id}.svg`, pictureFile(svg)] as const,
    [`figures/${figure.id}.vl.json`, renderSpecification(figure)] as const,
    [`figures/${figure.id}.csv`, renderFigureData(figure)] as const,
  ]);
}
