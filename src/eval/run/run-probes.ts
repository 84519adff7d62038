import type { ParitySelfTest } from '../../llm/parity-self-test.ts';
import type { GateResult, Measured, RunDescription } from '../results.ts';
import type { IsolationProbe } from './isolation-probe.ts';

/** What a run finds out beside its turns, stored with it. */
export interface RunProbes {
  /** Before any arm runs: how far two evaluations of one prompt, cut differently, are apart. */
  readonly parity: ParitySelfTest;
  readonly metrics: GateResult;
  readonly tokenisation: RunDescription['tokenisation'];
  readonly notes: readonly string[];
  readonly profile: RunDescription['profile'];
  /** By arm, after the turns: hits, evictions and bytes of its K/V store, by tier where it has two. */
  readonly kvStores: RunDescription['kvStores'];
  /** After the turns, as the retriever counts; missing until then, and in runs of versions that did not ask. */
  readonly retriever?: Readonly<Record<string, unknown>>;
  /** After the turns; null until then. */
  readonly isolation: IsolationProbe | null;
  /** What the suite measured beside turns; null until then, and where it measures nothing. */
  readonly measured: Measured | null;
}
