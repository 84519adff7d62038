import { BenchError } from '../../config/bench-error.ts';
import { BlockStore } from '../../kv/block-store.ts';
import { joinBlocks } from '../../kv/join-blocks.ts';
import type { StateStore } from '../../kv/state-store.ts';
import { commonLength } from '../../llm/common-length.ts';
import type { ModelInfo } from '../../llm/model-info.ts';
import type { ModelSequence } from '../../llm/model-sequence.ts';
import { type BlockWorkshop, gatherBlocks, type GatheredBlocks } from '../../systems/dki/gather-blocks.ts';
import { placeBlocks } from '../../systems/dki/place-blocks.ts';
import { scaledPrefix } from '../../systems/dki/scaled-prefix.ts';
import { ScratchState } from '../../systems/scratch-state.ts';
import { partsOf, type StoredInjection, type StoredSequence } from './stored-sequence.ts';

/** Two tokens at least stay to be evaluated: a chunk of one takes another path through the arithmetic. */
const LEAST_EVALUATED = 2;

/** Brings a sequence to where the answer of a stored turn began, with all memories or without one of them. */
export interface TurnReplay {
  /** How a memory is left out: as a block of K/V, or as text that is read without it. */
  readonly method: 'text' | 'blocks';
  /** @returns the tokens that are still to be evaluated @throws BenchError `not-reproduced` */
  begin(leftOut?: string): Promise<readonly number[]>;
}

/** Where a turn is replayed. */
export interface ReplayRoom {
  readonly info: ModelInfo;
  readonly sequence: ModelSequence;
  /** For what goes through files on its way into the sequence. */
  readonly states: StateStore;
}

/**
 * The way back to a turn that is true to how it was given. Blocks did not see each other, so that one is left out by not
 * joining it. A contiguous prefix did: every cell depends on what precedes it, and without a memory it is another text,
 * which is read again from there on. Where its values were scaled they are scaled again.
 */
export function openReplay(turn: StoredSequence, room: ReplayRoom): TurnReplay {
  const { injection } = turn;
  if (injection === null || (injection.mode === 'prefix' && injection.alpha === 1)) return textReplay(turn, room);
  return injection.mode === 'prefix' ? scaledReplay(turn, injection.alpha, room) : blocksReplay(turn, injection, room);
}

/** Keeps what the sequence begins with already; it must hold nothing but evaluated text. */
function textReplay(turn: StoredSequence, { sequence }: ReplayRoom): TurnReplay {
  return {
    method: 'text',
    begin: async (leftOut) => {
      const { header, lines, suffix } = partsOf(turn, leftOut);
      const ids = [...header, ...lines.flatMap(({ tokenIds }) => tokenIds), ...suffix];
      const kept = Math.min(commonLength(sequence.tokens, ids), ids.length - LEAST_EVALUATED);
      await sequence.truncate(kept);
      return ids.slice(kept);
    },
  };
}

function scaledReplay(turn: StoredSequence, alpha: number, { info, sequence, states }: ReplayRoom): TurnReplay {
  const scratch = new ScratchState(states);
  return {
    method: 'text',
    begin: async (leftOut) => {
      const { header, lines, suffix } = partsOf(turn, leftOut);
      await sequence.clear();
      await sequence.evaluate([...header, ...lines.flatMap(({ tokenIds }) => tokenIds)]);
      if (lines.length > 0) {
        scratch.write(scaledPrefix(await scratch.cellsOf(sequence), header.length, alpha, info));
        await scratch.load(sequence);
      }
      return suffix;
    },
  };
}

/** Every block is computed once, the first time; then no memory is read again, but for what links one to another. */
function blocksReplay(
  turn: StoredSequence,
  { mode, alpha, positions }: Extract<StoredInjection, { readonly positions: unknown }>,
  { info, sequence, states }: ReplayRoom,
): TurnReplay {
  const scratch = new ScratchState(states);
  const store = new BlockStore(states, states.stats().maxBytes, 'when-evicted');
  const workshop: BlockWorkshop = { info, sequence, store, scratch, template: 'influence' };
  const all = partsOf(turn);
  let known: GatheredBlocks | undefined;
  return {
    method: 'blocks',
    begin: async (leftOut) => {
      const { suffix } = partsOf(turn, leftOut);
      known ??= await gatherBlocks(workshop, turn.userId, all);
      const { header, blocks } = known;
      const joined = blocks.filter((_, index) => all.lines[index]!.memoryId !== leftOut).map(({ cells }) => cells);
      const placed = await placeBlocks(mode, workshop, header.cells, joined);
      if (leftOut === undefined && placed.positions.join() !== positions.join()) throw otherPlaces();
      const placements = placed.placements.map((placement) => ({ ...placement, alpha }));
      const join = { keys: info, sequences: info.contextOptions.sequences };
      scratch.write(joinBlocks(header.cells, placements, join));
      await scratch.load(sequence);
      return suffix;
    },
  };
}

function otherPlaces(): BenchError {
  return new BenchError(
    'not-reproduced',
    'the blocks of the turn come out at other positions than are stored',
    'it was written by another release; run the bench again with this one',
  );
}
