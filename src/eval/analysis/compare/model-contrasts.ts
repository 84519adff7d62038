import type { MeasuredContrast } from '../../../store/records/planned-contrast.ts';
import type { RunResults } from '../../../store/records/run-results.ts';
import { holm } from '../statistics/p-values.ts';
import { contrastVerdict } from '../summary/planned-contrast.ts';

/** The planned contrast of one run, beside those of other models. */
export interface ModelContrast {
  readonly results: RunResults;
  readonly contrast: NonNullable<RunResults['contrast']>;
  /** `p`, adjusted (Holm) over the runs with the same contrast on the same data; null if nothing was tested. */
  readonly pAdjusted: number | null;
  /** By the adjusted p; null if the contrast is absent. */
  readonly verdict: MeasuredContrast['verdict'] | null;
}

/** The planned contrasts of runs, one per model, in their order; runs on data that plan none are left out. */
export function modelContrasts(runs: readonly RunResults[]): ModelContrast[] {
  const having = runs.flatMap((results) => {
    const { contrast, run } = results;
    if (contrast === undefined) return [];
    const family = JSON.stringify([run.dataset.sha256, contrast.planned]);
    return [{ results, contrast, family, p: contrast.found.state === 'measured' ? contrast.found.p : null }];
  });
  return having.map(({ results, contrast, family, p }) => {
    const { found } = contrast;
    const tested = having.filter((one) => one.family === family && one.p !== null);
    const place = tested.findIndex((one) => one.results === results);
    const pAdjusted = p === null ? null : holm(tested.map((one) => one.p!))[place]!;
    const shared = { results, contrast, pAdjusted };
    if (found.state === 'absent') return { ...shared, verdict: null };
    if (pAdjusted === null || found.verdict === 'too few users') return { ...shared, verdict: found.verdict };
    return { ...shared, verdict: contrastVerdict(pAdjusted, found.delta) };
  });
}
