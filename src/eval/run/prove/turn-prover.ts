import type { DatasetItem } from '../../../data/dataset.ts';
import type { CallOptions, EngineSession } from '../../../engine/engine-session.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import type { ArmTraits, PrefillName } from '../../../store/records/arm-traits.ts';
import type { Observed } from '../../../store/records/observed.ts';
import type { EvictionName, PrefillRecord } from '../../../store/records/prefill-record.ts';
import type { CellsSelfTest } from '../../../store/records/run-probes.ts';
import { injectedParts } from '../observe/injected-parts.ts';
import { type AnsweredInSession, sessionOf } from '../observe/turn-observer.ts';
import { type CellMaker, expectedCells, type ExpectedParts, FreshCells, memoryCells } from './expected-cells.ts';
import { type CellBound, referenceCells, ROUNDING, wrongCells } from './reference-cells.ts';
import type { TurnSample } from './turn-sample.ts';
import { cellsLeft, wrongEviction } from './wrong-eviction.ts';
import { wrongJoin } from './wrong-join.ts';

/** Tokens of a wholly evaluated prompt that are evaluated again in front of the answer. */
const LEAST_SUFFIX = 2;

/** An engine to prove with: `scoring` is a session that no arm uses and no turn's meter counts. */
export interface ProverParts {
  readonly engine: Pick<Engine, 'capabilities' | 'deleteCheckpoint' | 'firstLayers'>;
  readonly scoring: EngineSession;
}

/** The result of a proof: what is wrong in words, null if nothing is; or the reason why there is no proof. */
type Verdict = { readonly wrong: string | null } | { readonly unproven: string };

type Noise = Exclude<CellsSelfTest, { readonly missing: string }>;

/**
 * Proves turns again after they were scored, outside their clocks: a seeded sample of each arm, and its first cache hit and miss of
 * the first user. The answer is generated again from the KV that the turn left; injected cells are read back and compared with a
 * fresh evaluation in another session.
 */
export class TurnProver {
  readonly #parts: ProverParts;
  readonly #sample: TurnSample;
  readonly #selfTest: CellsSelfTest | undefined;
  readonly #fresh: FreshCells;
  /** The item whose cells are cached. */
  #itemId: string | undefined;
  /** Arms and cache outcomes of the first user that were proven. */
  readonly #first = new Set<string>();

  /** @param selfTest the differences that the engine itself makes, with which cells are compared */
  constructor(parts: ProverParts, sample: TurnSample, selfTest: CellsSelfTest | undefined) {
    this.#parts = parts;
    this.#fresh = new FreshCells(parts.scoring);
    this.#sample = sample;
    this.#selfTest = selfTest;
  }

  /** Returns an empty object for a turn that is not in the sample. */
  async prove(
    arm: ArmTraits,
    { item, repeat }: { readonly item: DatasetItem; readonly repeat: number },
    turn: AnsweredInSession,
    options: CallOptions,
  ): Promise<Pick<Observed, 'sameAgain' | 'wrongCells'>> {
    if (!this.#sample.has(arm, item, repeat) && !this.#isFirst(arm, item, turn)) return {};
    if (this.#itemId !== item.itemId) this.#fresh.forget();
    this.#itemId = item.itemId;
    const verdict = await this.#proveCells(arm, turn, options);
    const hasAnswer = turn.recorded.generation !== null;
    return {
      ...(hasAnswer ? { sameAgain: await this.#generatesAgain(turn, options) } : {}),
      ...('wrong' in verdict ? { wrongCells: verdict.wrong } : {}),
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

  async #proveCells(arm: ArmTraits, turn: AnsweredInSession, options: CallOptions): Promise<Verdict> {
    const { engine } = this.#parts;
    const { cells, leastTokens, exactCuts } = engine.capabilities;
    const noise = this.#selfTest;
    const parts = injectedParts(arm, turn.response);
    if (arm.prefill === undefined || parts.lines.length === 0) return { unproven: 'the turn injects nothing' };
    if (cells === null) return { unproven: 'the engine gives no cells' };
    if (noise === undefined || 'missing' in noise) return { unproven: 'the self-test did not measure cells' };
    const given = turn.memories.memories.map(({ memoryId }) => memoryId);
    const ranks = parts.memoryIds.map((memoryId) => given.indexOf(memoryId));
    const record = turn.response.trace.prefill;
    const wrong = await wrongInjection(
      { engine, fresh: this.#fresh, cells, leastTokens, options },
      {
        arm: { ...arm, prefill: arm.prefill },
        session: sessionOf(turn),
        injected: { ...parts, making: arm.making, keptAs: arm.settings.store, ranks },
        record,
        alpha: arm.alpha ?? record?.alpha ?? 1,
        bound: cellBound(noise, arm.prefill, ROUNDING[cells.layout.keyType]),
        isExact: exactCuts && noise.noise.firstKeys === 0 && noise.noise.deeper === 0,
      },
    );
    return { wrong };
  }

  /** Generates the answer again in another session from the KV that the turn left; true if token by token the same. */
  async #generatesAgain({ recorded, response }: AnsweredInSession, options: CallOptions): Promise<boolean> {
    const { engine } = this.#parts;
    const scoring = this.#fresh.use();
    const { prefixPositions } = response.trace;
    const { session, suffix, limits, given } = recorded.generation!;
    const { onToken: _, ...sameLimits } = limits;
    const isSame = async (behind: readonly TokenId[]): Promise<boolean> => {
      const { tokens } = await scoring.generate(behind, sameLimits, options);
      return tokens.join() === given.tokens.join();
    };
    if (!engine.capabilities.checkpoints || session.cells === 0) {
      await scoring.clear(options);
      return isSame(suffix);
    }
    const checkpoint = await session.checkpoint(options);
    try {
      await scoring.restore(checkpoint, options);
      const wanted = prefixPositions === 0 ? Math.max(0, suffix.length - LEAST_SUFFIX) : prefixPositions;
      // A system may have cut its session since.
      const cut = Math.min(wanted, scoring.tokens.length);
      await scoring.truncate(cut, options);
      return await isSame(suffix.slice(Math.max(0, cut - prefixPositions)));
    } finally {
      await engine.deleteCheckpoint(checkpoint);
    }
  }
}

/** A turn that injected KV, with all that its prover needs. */
interface InjectedTurn {
  readonly arm: ArmTraits & { readonly prefill: PrefillName };
  readonly session: EngineSession;
  readonly injected: ReturnType<typeof injectedParts> & ExpectedParts;
  readonly record: PrefillRecord | null;
  readonly alpha: number;
  readonly bound: CellBound;
  /** Evaluating again gives the same bits. */
  readonly isExact: boolean;
}

/** What is wrong with the injected cells of a turn, by its kind of prefill; null if nothing is. */
async function wrongInjection(maker: CellMaker, turn: InjectedTurn): Promise<string | null> {
  const { arm, session, injected, alpha, bound } = turn;
  if (arm.evict !== undefined) return await wrongLeft(maker, turn, arm.evict);
  const count = memoryCells(injected).length;
  if (session.cells < count) return `${session.cells} cells in place of ${count}`;
  const readBack = (end: number) => session.exportCells({ start: 0, end }, maker.options);
  using found = await readBack(count);
  if (arm.prefill === 'prefix') {
    return wrongCells(referenceCells(found), await expectedCells(maker, 'prefix', injected, alpha), bound);
  }
  const claimed = turn.record === null || turn.record.strategy === 'prefix' ? [] : turn.record.recomputed;
  return await wrongJoin(maker, { ...turn, recipe: arm.prefill, parts: injected, claimed, readBack }, found, bound);
}

/** What is wrong with the cells of a turn that evicted tokens. */
async function wrongLeft(maker: CellMaker, turn: InjectedTurn, evict: EvictionName): Promise<string | null> {
  const { arm, session, injected, alpha, bound, isExact } = turn;
  const prefill = arm.prefill === 'prefix' ? 'prefix' : 'blocks';
  const count = cellsLeft({ ...injected, prefill, evict });
  // Behind the memories each cell has a position of its own.
  const behind = session.tokens.length - injected.header.length - injected.lines.flat().length;
  const cells = session.cells < count ? session.cells : session.cells - behind;
  if (cells !== count) return `${cells} cells in place of ${count}`;
  using found = await session.exportCells({ start: 0, end: count }, maker.options);
  const tolerance = { ...bound, rounding: isExact ? 0 : bound.deeper };
  return await wrongEviction(maker, { ...injected, prefill, evict, alpha }, referenceCells(found), tolerance);
}

/** Differences that rounding makes, or twice those that the self-test measured. */
function cellBound({ noise, recomputed }: Noise, prefill: PrefillName, rounding: number): CellBound {
  const isPlain = prefill === 'prefix' || prefill === 'blocks' || prefill === 'parallel';
  const deeper = isPlain ? noise.deeper : Math.max(noise.deeper, recomputed);
  return { firstKeys: Math.max(rounding, 2 * noise.firstKeys), deeper: Math.max(rounding, 2 * deeper) };
}
