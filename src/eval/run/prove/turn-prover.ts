import { SeededRandom } from '../../../base/seeded-random.ts';
import type { DatasetItem, DatasetUser } from '../../../data/dataset.ts';
import { lastExactCut } from '../../../engine/engine-capabilities.ts';
import type { CallOptions, EngineSession } from '../../../engine/engine-session.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { TokenId, TokenRange } from '../../../engine/token-id.ts';
import type { ArmTraits, PrefillName } from '../../../store/records/arm-traits.ts';
import type { TurnObservation } from '../../../store/records/turn-observation.ts';
import type { CellsSelfTest } from '../../../store/records/run-probes.ts';
import {
  evictionUnits,
  injectedCells,
  type InjectedParts,
  injectedParts,
  repairedMemories,
  turnAlpha,
} from '../observe/expected-injection.ts';
import { type ControlItems, takesItem } from '../plan/plan-users.ts';
import { type AnsweredInSession, answeringSession } from '../observe/post-turn-measurements.ts';
import { type ScorerParts, withTurnState } from '../observe/likelihood-scorer.ts';
import {
  FreshCells,
  type CellMaker,
  expectedCells,
  type ExpectedParts,
  precedingLine,
  selectedPositions,
} from './expected-cells.ts';
import { type CellBound, ROUNDING, float64Cells, wrongCells } from './float64-cells.ts';
import { type EvictedParts, type PromptRest, wrongEviction } from './evicted-tokens-proof.ts';
import { parseEviction, seesQuestion } from '../../../kv/eviction-rule-and-share.ts';
import type { SequenceState } from '../../../engine/sequence-state.ts';
import { cutCells } from '../../../kv/cut-cells.ts';
import { contiguousPositions } from '../../../kv/join-blocks.ts';
import { kvOperations } from '../../../kv/kv-operations.ts';
import type { TurnTrace } from '../../../systems/memory-system.ts';
import { parseRecipe, type RecipeName } from '../../../systems/prefill/join-recipe.ts';
import { isScored, type TokenSelection } from '../../../systems/prefill/select-tokens-to-recompute.ts';
import { countPositions, wrongSelection, wrongShare } from './recomputed-tokens-proof.ts';

/** Tokens at the end of a wholly evaluated prompt that are evaluated again before the answer. */
const MIN_SUFFIX = 2;

/** Turns per arm that are proven; all if there are fewer. */
const MIN_TURNS = 6;
const SHARE = 0.05;

export type TurnSample = ReturnType<typeof drawTurnSample>;

/** The seeded sample of turns that are proven, however the run is divided. All arms share the drawn questions. */
export function drawTurnSample(
  users: readonly Pick<DatasetUser, 'items'>[],
  arms: readonly ArmTraits[],
  { seed, repeats, controls }: { readonly seed: number; readonly repeats: number; readonly controls?: ControlItems },
) {
  const firstUserItems = new Set(users[0]?.items.map(({ itemId }) => itemId));
  const turns = users.flatMap(({ items }) =>
    items.flatMap((item) => Array.from({ length: repeats }, (_, repeat) => ({ item, repeat }))),
  );
  const shuffled = new SeededRandom(seed).shuffled(turns);
  const drawn = new Set(
    arms.flatMap((arm) => {
      const planned = shuffled.filter(({ item }) => takesItem(arm, item, controls));
      const count = Math.max(MIN_TURNS, Math.ceil(SHARE * planned.length));
      return planned.slice(0, count).map(({ item, repeat }) => turnKey(arm, item, repeat));
    }),
  );
  return {
    /** True for an item of the first user, for whom each arm's first cache hit and miss are proven as well. */
    isOfFirstUser: ({ itemId }: Pick<DatasetItem, 'itemId'>): boolean => firstUserItems.has(itemId),
    has: (arm: ArmTraits, item: Pick<DatasetItem, 'itemId'>, repeat: number): boolean =>
      drawn.has(turnKey(arm, item, repeat)),
  };
}

function turnKey({ name }: ArmTraits, { itemId }: Pick<DatasetItem, 'itemId'>, repeat: number): string {
  return JSON.stringify([name, itemId, repeat]);
}

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
  /** What followed the memories in turns that evicted tokens by a question, by arm and the tokens chosen from. */
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
    if (!evictsForQuestion(arm) || prefill === null) return;
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
    if (evictsForQuestion(arm) && askedFor.some(isUnknown)) {
      return { unproven: 'tokens were evicted for a question that was asked before this process began' };
    }
    const alpha = turnAlpha(arm, turn.response);
    const wrong = await wrongInjection(
      { engine, fresh: this.#fresh, cells, leastTokens, options },
      {
        prefill: arm.prefill,
        eviction: arm.evict && { evict: arm.evict, repaired, askedFor },
        session: answeringSession(turn),
        parts: { ...parts, making: arm.making, keptAs: arm.settings.store, ranks },
        alpha,
        count: injectedCells(arm, parts, { alpha, capabilities, given }),
        trace: turn.response.trace,
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
function evictionKeys(arm: ArmTraits, parts: Pick<InjectedParts, 'lines'>): string[] {
  return evictionUnits(arm, parts).map((ids) => JSON.stringify([arm.name, ids]));
}

function evictsForQuestion({ evict }: ArmTraits): boolean {
  return evict !== undefined && seesQuestion(parseEviction(evict));
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

interface InjectedTurn {
  readonly prefill: PrefillName;
  readonly eviction: Pick<EvictedParts, 'evict' | 'repaired' | 'askedFor'> | undefined;
  readonly session: EngineSession;
  readonly parts: InjectedParts & ExpectedParts;
  readonly alpha: number;
  /** Cells that the turn must have injected. Those behind an exact prefix's last exact cut were evaluated with the suffix. */
  readonly count: number;
  readonly trace: TurnTrace;
  readonly bound: CellBound;
  /** True if evaluating again gives the same bits. */
  readonly isExact: boolean;
}

/** Describes what is wrong with the injected cells of a turn; null if nothing is. */
async function wrongInjection(maker: CellMaker, turn: InjectedTurn): Promise<string | null> {
  const { prefill, eviction, session, parts, alpha, bound, count, isExact } = turn;
  // Behind the memories, each token has one cell.
  const behind = session.tokens.length - parts.header.length - parts.lines.flat().length;
  const cells = eviction === undefined || session.cells < count ? session.cells : session.cells - behind;
  if (cells < count || (eviction !== undefined && cells > count)) return `${cells} cells in place of ${count}`;
  using found = await session.exportCells({ start: 0, end: count }, maker.options);
  if (eviction !== undefined) {
    const tolerance = { ...bound, rounding: isExact ? 0 : bound.deeper };
    return await wrongEviction(maker, { ...parts, ...eviction, prefill, alpha }, float64Cells(found), tolerance);
  }
  if (prefill !== 'prefix') return await wrongJoin(maker, turn, prefill, found);
  const expected = await expectedCells(maker, 'prefix', parts, alpha);
  return wrongCells(float64Cells(found), expected.slice(0, count), bound);
}

/** Checks joined blocks: the recomputed positions, then the numbers, then the equality of bytes. */
async function wrongJoin(
  maker: CellMaker,
  { session, parts, alpha, trace: { prefill, account }, bound, isExact }: InjectedTurn,
  recipe: RecipeName,
  found: SequenceState,
): Promise<string | null> {
  const { recompute } = parseRecipe(recipe);
  // Scored rules: the positions that the turn reports, to be checked. Other rules: positions are known.
  const claimed = prefill !== null && 'recomputed' in prefill ? prefill.recomputed : [];
  const isClaimed = recompute !== null && isScored(recompute);
  const recomputed = isClaimed ? claimed : selectedPositions(recipe, parts);
  const missed = await wrongTokens(maker, recompute, { ...parts, recomputed, account }, bound.deeper);
  if (missed !== null) return missed;
  const readBack = (end: number) => session.exportCells({ start: 0, end }, maker.options);
  // Arms recompute behind unscaled cells and then scale them, so that the turn's scaled cells cannot be used.
  const behind = alpha === 1 ? { found: readBack } : {};
  const expected = await expectedCells(maker, recipe, { ...parts, recomputed, ...behind }, alpha);
  const wrong = wrongCells(float64Cells(found), expected, bound);
  const isStoredExactly = (parts.keptAs ?? 'f16') === 'f16';
  if (wrong !== null || recompute === null || !isExact || !isStoredExactly) return wrong;
  return await differentBytes(maker, { ...parts, recomputed }, alpha, found);
}

async function wrongTokens(
  maker: CellMaker,
  recompute: TokenSelection | null,
  parts: InjectedTurn['parts'] & Pick<TurnTrace, 'account'> & { readonly recomputed: readonly TokenRange[] },
  rounding: number,
): Promise<string | null> {
  if (recompute === null) return null;
  const { recomputed, account } = parts;
  const miscounted = wrongShare(recompute, parts, recomputed);
  const missed = miscounted ?? (isScored(recompute) ? await wrongSelection(maker, recompute, parts, rounding) : null);
  const selected = account.selection?.selected;
  if (missed !== null || selected === undefined) return missed;
  const count = countPositions(recomputed);
  return selected === count ? null : `${count} tokens were selected, not ${selected} as accounted`;
}

/** Compares bytes: cells that were not recomputed must equal joined blocks; if all were, they must equal text. */
async function differentBytes(
  maker: CellMaker,
  parts: ExpectedParts & { readonly recomputed: readonly TokenRange[] },
  alpha: number,
  found: SequenceState,
): Promise<string | null> {
  const { header, lines, recomputed } = parts;
  const isRecomputed = (cell: number): boolean => recomputed.some(({ start, end }) => start <= cell && cell < end);
  using blocks = await joinedBlocks(maker, parts, alpha);
  const cells = [...found.positions.keys()];
  const changed = cells.find((cell) => !isRecomputed(cell) && !haveSameBytes(found, blocks, cell));
  if (changed !== undefined) {
    return `cell ${changed} was not recomputed, but its bytes differ from the joined blocks`;
  }
  const first = header.length + (lines[0]?.length ?? 0);
  if (alpha !== 1 || !cells.slice(first).every(isRecomputed)) return null;
  const text = await maker.fresh.behind([], [...header, ...lines.flat()], maker.options);
  const other = cells.find((cell) => !haveSameBytes(found, text, cell));
  return other === undefined ? null : `all tokens were recomputed, but the bytes of cell ${other} differ from text`;
}

async function joinedBlocks({ fresh, cells, options }: CellMaker, parts: ExpectedParts, alpha: number) {
  const { header, lines } = parts;
  const front = await fresh.behind([], header, options);
  const blocks: SequenceState[] = [];
  for (const [index, line] of lines.entries()) {
    const neighbour = precedingLine(parts, index);
    const block = await fresh.behind(header, [...neighbour, ...line], options);
    blocks.push(cutCells(block, neighbour.length, neighbour.length + line.length));
  }
  const positions = contiguousPositions(blocks, header.length);
  const placements = blocks.map((block, index) => ({ block, position: positions[index]!, alpha }));
  return kvOperations.join(front, placements, { rotary: cells.rotary });
}

function haveSameBytes(a: SequenceState, b: SequenceState, cell: number): boolean {
  const [own, other] = [a, b].map((state) => {
    const { keys, values } = cutCells(state, cell, cell + 1);
    return Buffer.concat([...keys, ...values]);
  });
  return own!.equals(other!);
}
