import type { DatasetItem } from '../../../data/dataset.ts';
import { lastExactCut } from '../../../engine/engine-capabilities.ts';
import type { CallOptions } from '../../../engine/engine-session.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import type { ArmTraits, PrefillName } from '../../../store/records/arm-traits.ts';
import type { TurnObservation } from '../../../store/records/turn-observation.ts';
import type { CellsSelfTest } from '../../../store/records/run-probes.ts';
import { exactTokens, type InjectedParts, injectedParts, repairedMemories, turnAlpha } from '../observe/expected-injection.ts'; // prettier-ignore
import { type AnsweredInSession, answeringSession } from '../observe/post-turn-measurements.ts';
import { type ScorerParts, withTurnState } from '../observe/likelihood-scorer.ts';
import { FreshCells } from './expected-cells.ts';
import { type CellBound, ROUNDING } from './float64-cells.ts';
import type { TurnSample } from './turn-sample.ts';
import { wrongInjection } from './injection-proof.ts';
import { type PromptRest, unitTokens } from './evicted-tokens-proof.ts';
import { parseEviction, seesQuestion } from '../../../kv/eviction-rule-and-share.ts';

/** Tokens of a wholly evaluated prompt that are evaluated again in front of the answer. */
const MIN_SUFFIX = 2;

/** The result of a proof: what is wrong in words, null if nothing is; or the reason why there is no proof. */
type Verdict = { readonly wrong: string | null } | { readonly unproven: string };

/**
 * Proves a seeded sample, and each arm's first cache hit and miss of the first user, outside clocks. Generates the answer
 * again from the turn's KV, and compares injected cells with a fresh evaluation in another session.
 */
export class TurnProver {
  readonly #parts: ScorerParts & { readonly engine: Pick<Engine, 'firstLayers'> };
  readonly #sample: TurnSample;
  readonly #selfTest: CellsSelfTest | undefined;
  readonly #fresh: FreshCells;
  #itemId: string | undefined;
  /** Arms and cache outcomes of the first user that were proven. */
  readonly #first = new Set<string>();
  /** Prompts behind the memories in the turns that evicted tokens by a question, by arm and tokens of the eviction. */
  readonly #evictedFor = new Map<string, PromptRest>();
  #userId: string | undefined;

  /** @param selfTest differences that the engine itself makes, from which the tolerance of cells follows */
  constructor(parts: ScorerParts & { engine: Engine }, sample: TurnSample, selfTest: CellsSelfTest | undefined) {
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
  ): Promise<Pick<TurnObservation, 'sameAgain' | 'wrongCells'>> {
    this.#noteQuestion(arm, item, turn);
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

  /** Remembers the question for which a turn evicts, since what is left is kept for later ones. */
  #noteQuestion(arm: ArmTraits, { userId }: DatasetItem, { response }: AnsweredInSession): void {
    if (this.#userId !== userId) this.#evictedFor.clear();
    this.#userId = userId;
    const { prefill } = response.trace;
    if (arm.evict === undefined || !seesQuestion(parseEviction(arm.evict)) || prefill === null) return;
    const parts = injectedParts(arm, response);
    const origins = prefill.strategy === 'prefix' ? [prefill.origin] : prefill.blocks.map(({ origin }) => origin);
    evictionKeys(arm, parts).forEach((key, unit) => {
      if (origins[unit] === 'computed') this.#evictedFor.set(key, parts);
    });
  }

  #isFirst({ name, injects }: ArmTraits, item: DatasetItem, { response }: AnsweredInSession): boolean {
    const { cache } = response.trace.account;
    const key = JSON.stringify([name, cache]);
    if (!this.#sample.isOfFirstUser(item) || injects === 'nothing' || cache === 'bypass') return false;
    return !this.#first.has(key) && this.#first.add(key).has(key);
  }

  async #proveCells(arm: ArmTraits, turn: AnsweredInSession, options: CallOptions): Promise<Verdict> {
    const { engine } = this.#parts;
    const { capabilities } = engine;
    const { cells, leastTokens, exactCuts } = capabilities;
    const test = this.#selfTest;
    const parts = injectedParts(arm, turn.response);
    if (arm.prefill === undefined || parts.lines.length === 0) return { unproven: 'the turn injects nothing' };
    if (cells === null) return { unproven: 'the engine exports no cells' };
    if (test === undefined || 'missing' in test) return { unproven: 'the self-test did not measure cells' };
    const given = turn.memories.memories.map(({ memoryId }) => memoryId);
    const ranks = parts.memoryIds.map((memoryId) => given.indexOf(memoryId));
    const repaired = repairedMemories(arm, parts, given);
    const askedFor = evictionKeys(arm, parts).map((key) => this.#evictedFor.get(key));
    const isUnknown = (rest: PromptRest | undefined, unit: number) =>
      rest === undefined && repaired?.has(unit) !== true;
    if (arm.evict !== undefined && seesQuestion(parseEviction(arm.evict)) && askedFor.some(isUnknown)) {
      return { unproven: 'tokens were evicted for a question that was asked before this process began' };
    }
    const { prefill: record, account } = turn.response.trace;
    const alpha = turnAlpha(arm, turn.response);
    const wrong = await wrongInjection(
      { engine, fresh: this.#fresh, cells, leastTokens, options },
      {
        prefill: arm.prefill,
        evict: arm.evict,
        repaired,
        askedFor,
        session: answeringSession(turn),
        parts: { ...parts, making: arm.making, keptAs: arm.settings.store, ranks },
        alpha,
        exactTokens: exactTokens(arm, parts, { alpha, capabilities }),
        record,
        selected: account.selection?.selected,
        bound: cellBound(test, arm.prefill, ROUNDING[cells.layout.keyType]),
        isExact: exactCuts === 1 && test.noise.firstKeys === 0 && test.noise.deeper === 0,
      },
    );
    return { wrong };
  }

  /** Generates the answer again in another session from the KV that the turn left; true if all tokens are equal. */
  async #generatesAgain({ recorded, response }: AnsweredInSession, options: CallOptions): Promise<boolean> {
    const scoring = this.#fresh.use();
    const { prefixPositions } = response.trace;
    const { session, suffix, limits, given } = recorded.generation!;
    const { onToken: _, ...sameLimits } = limits;
    const isSame = async (behind: readonly TokenId[]): Promise<boolean> => {
      const { tokens } = await scoring.generate(behind, sameLimits, options);
      return tokens.join() === given.tokens.join();
    };
    if (!this.#parts.engine.capabilities.checkpoints || session.cells === 0) {
      await scoring.clear(options);
      return isSame(suffix);
    }
    const whole = Math.max(0, suffix.length - MIN_SUFFIX);
    const end = prefixPositions === 0 ? lastExactCut(this.#parts.engine.capabilities, whole) : prefixPositions;
    return withTurnState(this.#parts, { session, end }, options, (cut) =>
      isSame(suffix.slice(Math.max(0, cut - prefixPositions))),
    );
  }
}

/** Names each eviction of a turn: all memories together, or one by one. */
function evictionKeys({ name, prefill }: ArmTraits, { lines }: Pick<InjectedParts, 'lines'>): string[] {
  const units = unitTokens({ lines, prefill: prefill === 'prefix' ? prefill : 'blocks' });
  return units.map((ids) => JSON.stringify([name, ids]));
}

/** Tolerance: the error of rounding, or twice the difference that the self-test measured if that is larger. */
function cellBound(
  { noise, recomputed }: Exclude<CellsSelfTest, { readonly missing: string }>,
  prefill: PrefillName,
  rounding: number,
): CellBound {
  const isPlain = prefill === 'prefix' || prefill === 'blocks' || prefill === 'parallel';
  const deeper = isPlain ? noise.deeper : Math.max(noise.deeper, recomputed);
  return { firstKeys: Math.max(rounding, 2 * noise.firstKeys), deeper: Math.max(rounding, 2 * deeper) };
}
