import type { CallOptions } from '../../../engine/call-options.ts';
import type { SequenceState } from '../../../engine/sequence-state.ts';
import type { TokenRange } from '../../../engine/token-id.ts';
import type { DatasetItem } from '../../../data/dataset.ts';
import type { ArmTraits, PrefillName } from '../../../store/records/arm-traits.ts';
import type { Observed } from '../../../store/records/observed.ts';
import type { PrefillRecord } from '../../../store/records/prefill-record.ts';
import type { CellsSelfTest } from '../../../store/records/run-probes.ts';
import { recipeNamed } from '../../../systems/prefill/join-recipe.ts';
import { isMeasured } from '../../../systems/prefill/select-tokens.ts';
import { injectedParts, type InjectedParts } from '../observe/injected-parts.ts';
import { type AnsweredInSession, sessionOf } from '../observe/turn-observer.ts';
import { brokenLaw } from './byte-laws.ts';
import { ROUNDING, wrongCells } from './compare-cells.ts';
import { expectedCells, memoryCells, positionsOf } from './expected-cells.ts';
import { FreshCells } from './fresh-cells.ts';
import { plainCells } from './plain-cells.ts';
import { type ProverParts, sameAgain } from './same-again.ts';
import type { TurnSample } from './turn-sample.ts';
import { cellsLeft, type Evicted, wrongEviction } from './wrong-eviction.ts';
import { wrongSelection } from './wrong-selection.ts';

/** The proof of a turn, beside its observation. */
type Proof = Pick<Observed, 'sameAgain' | 'wrongCells'>;

/**
 * Proves turns anew, after their scoring and outside every clock of theirs: a seeded sample of each arm, and its first cache
 * hit and miss of the first user. The answer is generated again from the K/V that the turn left, and injected cells are read back and compared
 * with those that a fresh evaluation in another session gives; of recomputed blocks the selection and the laws too.
 */
export class TurnProver {
  readonly #parts: ProverParts;
  readonly #sample: TurnSample;
  readonly #selfTest: CellsSelfTest | undefined;
  readonly #fresh: FreshCells;
  /** The question whose cells are kept. */
  #question: string | undefined;
  /** Arms whose first hit, or miss, of the first user was proven. */
  readonly #first = new Set<string>();

  constructor(parts: ProverParts, sample: TurnSample, selfTest: CellsSelfTest | undefined) {
    this.#parts = parts;
    this.#fresh = new FreshCells(parts.scoring);
    this.#sample = sample;
    this.#selfTest = selfTest;
  }

  /** Nothing for a turn that is not in the sample. */
  async prove(
    arm: ArmTraits,
    item: DatasetItem,
    repeat: number,
    turn: AnsweredInSession,
    options: CallOptions,
  ): Promise<Proof> {
    if (!this.#sample.has(arm, item, repeat) && !this.#isFirst(arm, item, turn)) return {};
    if (this.#question !== item.itemId) this.#fresh.forget();
    this.#question = item.itemId;
    const { generation } = turn.recorded;
    const { trace } = turn.response;
    const wrong = await this.#wrongCells(arm, turn, options);
    const parts = { engine: this.#parts.engine, scoring: this.#fresh.use() };
    return {
      ...(generation === null ? {} : { sameAgain: await sameAgain(parts, generation, trace, options) }),
      ...(wrong === undefined ? {} : { wrongCells: wrong }),
    };
  }

  #isFirst({ name, injects }: ArmTraits, item: DatasetItem, { response }: AnsweredInSession): boolean {
    if (!this.#sample.isOfFirstUser(item)) return false;
    const { cache } = response.trace.account;
    const key = JSON.stringify([name, cache]);
    if (injects === 'nothing' || cache === 'bypass' || this.#first.has(key)) return false;
    this.#first.add(key);
    return true;
  }

  /** Undefined where there is nothing to prove, and where nobody can. */
  async #wrongCells(arm: ArmTraits, turn: AnsweredInSession, options: CallOptions): Promise<string | null | undefined> {
    const { engine } = this.#parts;
    const { cells, leastTokens, exactCuts } = engine.capabilities;
    const parts = { ...injectedParts(arm, turn.response), making: arm.making, keptAs: arm.settings.store };
    const noise = this.#selfTest;
    if (arm.prefill === undefined || parts.lines.length === 0) return undefined;
    if (cells === null || noise === undefined || 'missing' in noise) return undefined;
    const session = sessionOf(turn);
    const tokens = parts.header.length + parts.lines.flat().length;
    const alpha = arm.alpha ?? turn.response.trace.prefill?.alpha ?? 1;
    const evicted = evictedOf(arm, parts, alpha);
    const count = evicted === undefined ? memoryCells(parts).length : cellsLeft(evicted);
    if (session.cells < count) return `${session.cells} cells in place of ${count}`;
    // Behind the memories each cell has a position of its own.
    const front = session.cells - (session.tokens.length - tokens);
    if (evicted !== undefined && front !== count) return `${front} cells in place of ${count}`;
    using state = await session.exportCells({ start: 0, end: count }, options);
    const given = turn.memories.memories.map(({ memoryId }) => memoryId);
    const ranks = parts.memoryIds.map((memoryId) => given.indexOf(memoryId));
    const maker = { engine, fresh: this.#fresh, cells, leastTokens };
    const bound = boundOf(noise, arm.prefill, ROUNDING[cells.layout.keyType]);
    const isExact = exactCuts && noise.noise.firstKeys === 0 && noise.noise.deeper === 0;
    if (evicted !== undefined) {
      return await wrongEviction(maker, evicted, plainCells(state), bound, isExact, options);
    }
    if (arm.prefill === 'prefix') {
      return wrongCells(plainCells(state), await expectedCells(maker, 'prefix', parts, alpha, options), bound);
    }
    const { recompute } = recipeNamed(arm.prefill);
    const claimed = recomputedOf(turn.response.trace.prefill);
    const isChosen = recompute !== null && isMeasured(recompute);
    const missed = isChosen
      ? await wrongSelection(maker, recompute, { ...parts, ranks }, claimed, bound.deeper, options)
      : null;
    if (missed !== null) return missed;
    const recomputed = isChosen ? claimed : positionsOf(arm.prefill, { ...parts, ranks });
    const readBack = (end: number): Promise<SequenceState> => session.exportCells({ start: 0, end }, options);
    // Scaled cells are not those behind which an arm recomputes: it scales what it has recomputed.
    const behind = alpha === 1 ? { found: readBack } : {};
    const expected = await expectedCells(maker, arm.prefill, { ...parts, recomputed, ...behind }, alpha, options);
    const wrong = wrongCells(plainCells(state), expected, bound);
    // The laws are of what is kept bit by bit.
    const isKept = (arm.settings.store ?? 'f16') === 'f16';
    if (wrong !== null || recompute === null || !isExact || !isKept) return wrong;
    return await brokenLaw(maker, state, { ...parts, recomputed, alpha }, options);
  }
}

/** The eviction of an arm; undefined for one that does not. */
function evictedOf({ prefill, evict }: ArmTraits, parts: InjectedParts, alpha: number): Evicted | undefined {
  if (evict === undefined) return undefined;
  return { ...parts, prefill: prefill === 'prefix' ? 'prefix' : 'blocks', evict, alpha };
}

/** The positions that a turn says it recomputed. */
function recomputedOf(prefill: PrefillRecord | null): readonly TokenRange[] {
  return prefill === null || prefill.strategy === 'prefix' ? [] : prefill.recomputed;
}

/** Differences that rounding makes, or twice what the self-test saw. */
function boundOf(
  { noise, recomputed }: Exclude<CellsSelfTest, { readonly missing: string }>,
  prefill: PrefillName,
  rounding: number,
): { readonly firstKeys: number; readonly deeper: number } {
  const isPlain = prefill === 'prefix' || prefill === 'blocks' || prefill === 'parallel';
  const deeper = isPlain ? noise.deeper : Math.max(noise.deeper, recomputed);
  return { firstKeys: Math.max(rounding, 2 * noise.firstKeys), deeper: Math.max(rounding, 2 * deeper) };
}
