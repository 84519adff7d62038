import type { RunResults } from '../../store/records/results.ts';
import { ablationFigure } from './ablation-figure.ts';
import { alphaFigure } from './alpha-figure.ts';
import { breakEvenFigure } from './break-even-figure.ts';
import { coherenceFigure } from './coherence-figure.ts';
import { contextFigure } from './context-figure.ts';
import { coreferenceFigure } from './coreference-figure.ts';
import type { Figure } from './figure.ts';
import { frontierFigure } from './frontier-figure.ts';
import { leakFigure } from './leak-figure.ts';
import { methodsFigure } from './methods-figure.ts';
import { phasesFigure } from './phases-figure.ts';
import { recallFigure } from './recall-figure.ts';
import { retrievalFigure } from './retrieval-figure.ts';
import { servingFigure } from './serving-figure.ts';
import { storageFigure } from './storage-figure.ts';

/** The figures of each suite, in order. */
const figuresBySuite: Readonly<Record<string, readonly ((results: RunResults) => Figure | undefined)[]>> = {
  main: [frontierFigure, breakEvenFigure],
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
  scaling: [frontierFigure, phasesFigure, recallFigure],
};

/** The figures of a run: those of its suite for which it has data, and of methods where it compares some. */
export function reportFigures(results: RunResults): Figure[] {
  const ofSuite = figuresBySuite[results.run.suite] ?? [];
  const ofMethods = results.methods === undefined || ofSuite.includes(methodsFigure) ? [] : [methodsFigure];
  return [...ofSuite, ...ofMethods].flatMap((of) => of(results) ?? []);
}
