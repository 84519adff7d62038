import { type TokenMeter } from '../../../../engine/token-meter.ts';
import type { ServedLoad } from '../../../../store/records/results.ts';
import { quantiles } from '../../../analysis/statistics/quantile.ts';
import { isSaturated } from './backlog.ts';
import { answeredOf, type ServedTurn } from './play-load.ts';

/** Findings beside the turns of a load. */
export interface SeenLoad {
  readonly arm: string;
  readonly sessions: number;
  /** Of the engine, over the load. */
  readonly meter: TokenMeter;
  readonly movedBytes: number;
  /** Texts of the answers of `rag` to the same plan, by its order; undefined of `rag` itself, and where it was not served. */
  readonly text: readonly (string | null)[] | undefined;
}

/** The text of each answer, null of a turn that failed. */
export function textsOf(served: readonly ServedTurn[]): (string | null)[] {
  return served.map(({ outcome }) => ('response' in outcome ? outcome.response.text : null));
}

/** Turns a second: of the plan, which begins at 0, or up to the last answer. */
function perSecond(count: number, ms: number): number {
  return (count / ms) * 1000;
}

/** The numbers of one load. @param served in the order of planned arrival, two turns at least */
export function servedLoad(
  served: readonly ServedTurn[],
  { arm, sessions, meter, movedBytes, text }: SeenLoad,
): ServedLoad {
  const answered = answeredOf(served);
  const saturated = isSaturated(served, sessions);
  const times = answered.map(({ plannedMs, outcome }) => outcome.firstTokenMs - plannedMs);
  const { p50, p95 } = times.length === 0 ? { p50: undefined, p95: undefined } : quantiles(times);
  const hits = answered.filter(({ outcome }) => outcome.response.trace.account.cache === 'hit').length;
  const keeps = answered.some(({ outcome }) => outcome.response.trace.account.cache !== 'bypass');
  const said = answered.reduce((sum, { outcome }) => sum + outcome.response.tokens.evaluated, 0);
  const mean = (total: number | null): number | null => (total === null ? null : total / served.length);
  return {
    arm,
    offered: perSecond(served.length - 1, served.at(-1)!.plannedMs),
    turns: served.length,
    errors: served.length - answered.length,
    answered: perSecond(answered.length, Math.max(...served.map(({ outcome }) => outcome.doneMs))),
    ttftMs: p50 === undefined ? null : { p50, ...(p95 === undefined || saturated ? {} : { p95 }) },
    saturated,
    evaluatedTokens: mean(meter.evaluated),
    reusedTokens: mean(meter.reused),
    movedBytes: movedBytes / served.length,
    hits: keeps ? hits : null,
    sameAsText:
      text === undefined ? null : textsOf(served).filter((one, place) => one !== null && one === text[place]).length,
    meter: meter.evaluated === null || Number.isNaN(said) ? null : { engine: meter.evaluated, turns: said },
  };
}
