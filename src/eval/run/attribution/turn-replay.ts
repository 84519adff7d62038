import { BenchError } from '../../../base/bench-error.ts';
import { TemporaryFolder } from '../../../base/temporary-folder.ts';
import { lastExactCut } from '../../../engine/engine-capabilities.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { EngineSession } from '../../../engine/engine-session.ts';
import { commonLength, type TokenId } from '../../../engine/token-id.ts';
import { externalKvName, writeExternalKv } from '../../../kv/external-kv-file.ts';
import { kvOperations } from '../../../kv/kv-operations.ts';
import { KvStore } from '../../../kv/kv-disk-store.ts';
import { type BlockContext, gatherBlocks, type GatheredBlocks } from '../../../systems/prefill/gather-blocks.ts';
import { type JoinRecipe, parseRecipe } from '../../../systems/prefill/join-recipe.ts';
import { joinAndRecompute } from '../../../systems/prefill/join-and-recompute.ts';
import { cutPrefix, exportPrefix, joinPrefix } from '../../../systems/prefill/exact-prefix-prefill.ts';
import { parseEviction, seesQuestion } from '../../../kv/eviction-rule-and-share.ts';
import type { PrefillRecord } from '../../../store/records/prefill-record.ts';
import type { PromptSegment } from '../../../store/records/prompt-info.ts';
import type { AnsweredTurn, TurnRecord } from '../../../store/records/turn-record.ts';
import { type PrefixParts, questionRange } from '../../../systems/prompt/build-prompt.ts';
import { isRedacted } from '../../analysis/redact-turn.ts';
import { hashIds } from '../observe/post-turn-measurements.ts';

/** Token sequence of a stored turn, and the answer and probabilities that its replay must reproduce. */
export type StoredSequence = ReturnType<typeof storedSequence>;

type StoredInjection = ReturnType<typeof storedInjection>;

/** @throws BenchError `not-reproduced` for a failed turn, one without texts, and ids other than those in the session */
export function storedSequence(turn: TurnRecord) {
  const { itemId, arm } = turn;
  const refuse = (why: string, hint: string): BenchError =>
    new BenchError('not-reproduced', `the turn of item ${itemId}, arm ${arm} cannot be computed again: ${why}`, hint);
  if (turn.state === 'failed') throw refuse('it failed, and has no answer', 'choose a turn that was answered');
  const { prompt, prefill, answer, observed } = turn;
  if (prefill !== null && 'file' in prefill) {
    throw refuse(`its KV came from the file ${prefill.file}`, 'choose a turn whose KV the bench computed');
  }
  const ids = prompt.segments.flatMap(({ tokenIds }) => tokenIds);
  if (dependsOnQuestions(turn)) {
    throw refuse('questions chose the tokens of its KV', 'choose a turn of an arm that evicts by tokens alone');
  }
  if (isRedacted(ids)) throw refuse('its prompt was not stored (--no-text)', 'run the bench again, without --no-text');
  if (hasForeignTokens(turn, ids))
    throw refuse('its token ids differ from those in the session', 'run the bench again');
  return {
    userId: turn.userId,
    segments: prompt.segments,
    // Best first.
    ranked: turn.given.retrieved.map(({ memoryId }) => memoryId),
    injection: prefill === null ? null : storedInjection(prefill),
    reserveTokens: prompt.budget.reserveTokens,
    form: prompt.segments.some(({ role }) => role === 'template') ? ('chat' as const) : ('plain' as const),
    answer: answer.text,
    generatedTokens: answer.tokenIds.length,
    nextTokens: observed.nextTokens,
  };
}

function hasForeignTokens({ prefill, account, observed }: AnsweredTurn, ids: readonly TokenId[]): boolean {
  // A session with shared positions, or with sink tokens in front of blocks, holds other ids than the prompt by design.
  const keepsSinks = prefill !== null && 'making' in prefill && prefill.making.sink?.kept === true;
  if (account.sharesPositions || keepsSinks) return false;
  // With eviction, a cell may hold another token in each head. Its id is unknown, so that hashes differ anyway.
  return prefill?.evicted === undefined
    ? hashIds(ids) !== observed.sequenceSha256
    : observed.firstForeignToken !== null;
}

/** True if the turn's question, or an earlier one, chose the tokens of its memories. */
function dependsOnQuestions({ account, prefill }: AnsweredTurn): boolean {
  return (
    account.repaired !== undefined || (prefill?.evicted !== undefined && seesQuestion(parseEviction(prefill.evicted)))
  );
}

export function memoryIds({ segments }: StoredSequence): string[] {
  return segments.flatMap(({ memoryId }) => memoryId ?? []);
}

/** Splits a sequence where injection ends. @param leftOut memory whose line is removed; labels and header stay */
export function splitSequence({ segments, injection, ranked }: StoredSequence, leftOut?: string): PrefixParts {
  const last = segments.findLastIndex(({ memoryId = '' }) => injection?.memoryIds.includes(memoryId));
  const isLeft = ({ memoryId }: PromptSegment): boolean => memoryId === undefined || memoryId !== leftOut;
  const front = segments.slice(0, last + 1).filter(isLeft);
  const behind = segments.slice(last + 1).filter(isLeft);
  return {
    header: front.flatMap(({ memoryId, tokenIds }) => (memoryId === undefined ? tokenIds : [])),
    lines: front.flatMap(({ memoryId, tokenIds }) => (memoryId === undefined ? [] : [{ memoryId, tokenIds }])),
    suffix: behind.flatMap(({ tokenIds }) => tokenIds),
    question: questionRange(behind),
    ranked,
  };
}

/** How a turn injected KV: blocks that a recipe joins, or one contiguous prefix, whose recipe is null. */
function storedInjection(prefill: PrefillRecord) {
  const { alpha, evicted, keptAs = 'f16' } = prefill;
  const evict = evicted === undefined ? null : parseEviction(evicted);
  if (prefill.strategy === 'prefix') {
    return { recipe: null, alpha, evict, keptAs, memoryIds: prefill.memoryIds, positions: [] };
  }
  const { strategy, making, blocks } = prefill;
  const memoryIds = blocks.map(({ memoryId }) => memoryId);
  const positions = blocks.map(({ position }) => position);
  return { recipe: parseRecipe(strategy, making), alpha, evict, keptAs, memoryIds, positions };
}

/** As much KV as a run keeps by default. */
const STORE_BYTES = 256 * 2 ** 20;

/** Brings a session to where the answer of a stored turn began, with all memories or without one of them. */
export interface TurnReplay extends AsyncDisposable {
  /** `blocks`: the KV block of the memory is not joined; `text`: the prompt is evaluated again without the memory's line. */
  readonly method: 'text' | 'blocks';
  /** @returns the tokens that are still to be evaluated @throws BenchError `not-reproduced` */
  begin(leftOut?: string): Promise<readonly TokenId[]>;
}

/** Opens the replay for a turn: of blocks if it injected blocks, else of text. */
export async function openReplay(turn: StoredSequence, engine: Engine, session: EngineSession): Promise<TurnReplay> {
  const { injection } = turn;
  if (injection !== null && injection.recipe !== null) {
    return blocksReplay(turn, injection, engine, session);
  }
  return {
    method: 'text',
    begin: (leftOut) =>
      injection === null || injectsText(injection)
        ? beginText(turn, leftOut, engine, session)
        : beginPrefix(splitSequence(turn, leftOut), injection, engine, session),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** True if the turn's KV is that of its text: nothing is injected, or one prefix without eviction, scaling or quantisation. */
function injectsText(injection: StoredSequence['injection']): boolean {
  if (injection === null) return true;
  const { recipe, alpha, evict, keptAs } = injection;
  return recipe === null && alpha === 1 && evict === null && keptAs === 'f16';
}

/** Reuses the longest common prefix in the session, which must hold nothing but evaluated text. */
async function beginText(
  turn: StoredSequence,
  leftOut: string | undefined,
  { capabilities }: Engine,
  session: EngineSession,
): Promise<readonly TokenId[]> {
  const { header, lines, suffix } = splitSequence(turn, leftOut);
  const ids = [...header, ...lines.flatMap(({ tokenIds }) => tokenIds), ...suffix];
  const most = Math.min(commonLength(session.tokens, ids), ids.length - capabilities.leastTokens);
  const kept = lastExactCut(capabilities, most);
  await session.truncate(kept);
  return ids.slice(kept);
}

async function beginPrefix(
  { header, lines, suffix }: ReturnType<typeof splitSequence>,
  { alpha, evict, keptAs }: StoredInjection,
  engine: Engine,
  session: EngineSession,
): Promise<readonly TokenId[]> {
  await session.clear();
  await session.evaluate([...header, ...lines.flatMap(({ tokenIds }) => tokenIds)]);
  if (lines.length === 0) return suffix;
  let prefix = await exportPrefix(session, header.length);
  if (evict !== null) prefix = { ...prefix, memories: kvOperations.evict(prefix.memories, evict) };
  if (keptAs !== 'f16') {
    using cells = joinPrefix(prefix, 1, engine);
    prefix = cutPrefix(kvOperations.restore(kvOperations.quantise(cells, keptAs)), prefix.header.positions.length);
  }
  using scaled = joinPrefix(prefix, alpha, engine);
  await session.importCells(scaled);
  return suffix;
}

/**
 * The first call computes every block. Later ones evaluate the tokens that the recipe recomputes and, if blocks attend to the previous
 * memory, the block behind the one left out.
 */
async function blocksReplay(
  turn: StoredSequence,
  { recipe, alpha, evict, keptAs, positions }: Extract<StoredInjection, { readonly recipe: JoinRecipe }>,
  engine: Engine,
  session: EngineSession,
): Promise<TurnReplay> {
  const folder = new TemporaryFolder();
  const blockStore = await KvStore.open(folder.path, STORE_BYTES, engine);
  const store = kvOperations.openBlocks(blockStore, STORE_BYTES, 'when-evicted', keptAs);
  const context: BlockContext = { engine, session, store, kv: kvOperations, evict, keptAs, template: 'attribution' };
  const all = splitSequence(turn);
  const seesPrevious = recipe.context === 'previous';
  let gathered: GatheredBlocks | undefined;
  return {
    method: 'blocks',
    begin: async (leftOut) => {
      const rest = splitSequence(turn, leftOut);
      const { lines } = seesPrevious ? rest : all;
      if (gathered === undefined || seesPrevious) {
        gathered = await gatherBlocks(context, turn.userId, { ...all, lines }, recipe);
      }
      const { header, sink, blocks } = gathered;
      const joined = blocks.flatMap(({ state, start }, index) => {
        const { memoryId } = lines[index]!;
        return memoryId === leftOut ? [] : [{ state, start, rank: turn.ranked.indexOf(memoryId) }];
      });
      const unplaced = { header: header.state, sink, blocks: joined, alpha, rest };
      using placed = await joinAndRecompute(recipe, context, unplaced);
      if (leftOut === undefined && placed.positions.join() !== positions.join()) {
        const message = 'the blocks of the turn are now placed at other positions than the stored ones';
        const hint = 'another release wrote it: run the bench again with this one';
        throw new BenchError('not-reproduced', message, hint);
      }
      await session.importCells(placed.state);
      return rest.suffix;
    },
    [Symbol.asyncDispose]: async () => {
      store[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}

/**
 * Computes again the KV of the header and memories of a stored turn: as the arm injected it, or, of an arm that gives text, as a prefix
 * that ends at an exact cut. @returns the file that `dki-external` reads; undefined for a turn without memories
 * @param engine with the model that made the turn, and a free session
 * @throws BenchError `not-reproduced`; `unsupported` without access to cells
 */
export async function exportTurnKv(stored: TurnRecord, engine: Engine) {
  const turn = storedSequence(stored);
  const last = turn.segments.findLastIndex(({ role }) => role === 'memory');
  const prefix = turn.segments.slice(0, last + 1).flatMap(({ tokenIds }) => tokenIds);
  const exact = lastExactCut(engine.capabilities, prefix.length);
  if (exact === 0) return undefined;
  await using session = await engine.openSession('kv export');
  if (injectsText(turn.injection)) {
    await session.evaluate(prefix.slice(0, exact));
  } else {
    await using replay = await openReplay(turn, engine, session);
    await replay.begin();
  }
  using state = await session.exportCells();
  const bytes = writeExternalKv(state, engine);
  return { name: externalKvName(turn.userId, prefix), bytes, cells: state.positions.length };
}
