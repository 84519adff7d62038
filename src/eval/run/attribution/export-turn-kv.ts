import { lastExactCut } from '../../../engine/engine-capabilities.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import { externalKvName, writeExternalKv } from '../../../kv/external-kv-file.ts';
import type { TurnRecord } from '../../../store/records/turn-record.ts';
import { injectsText, openReplay, type StoredSequence, storedSequence } from './turn-replay.ts';

/** A KV file that `dki-external` reads. */
export interface ExportedKv {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly cells: number;
}

/**
 * Computes again the KV of the header and memories of a stored turn: as the arm injected it, or, of an arm that gives text, as a prefix
 * that ends at an exact cut.
 * @param engine with the model that made the turn, and a free session
 * @returns undefined for a turn without memories @throws BenchError `not-reproduced`; `unsupported` without access to cells
 */
export async function exportTurnKv(stored: TurnRecord, engine: Engine): Promise<ExportedKv | undefined> {
  const turn = storedSequence(stored);
  const prefix = prefixTokens(turn);
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

/** Tokens up to the last memory line; none without memories. */
function prefixTokens({ segments }: StoredSequence): TokenId[] {
  const last = segments.findLastIndex(({ role }) => role === 'memory');
  return segments.slice(0, last + 1).flatMap(({ tokenIds }) => tokenIds);
}
