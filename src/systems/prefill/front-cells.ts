import type { SequenceState } from '../../engine/sequence-state.ts';
import type { KvTools } from '../../kv/kv-tools.ts';
import type { BlockMaking } from '../../store/records/block-making.ts';

/** The cells in front of blocks. */
export interface FrontCells {
  /** In front of them all, once. */
  readonly header: SequenceState;
  /** Cells in front of a block while it is computed; null for none. */
  readonly front: SequenceState | null;
  /** In front of each of them, where shared tokens are kept; else null. */
  readonly sink: SequenceState | null;
}

/** Parts of cells, which go with them: the rotated keys of a part are found again as long as the part is the same object. */
const known = new WeakMap<SequenceState, Map<string, SequenceState>>();

function part(of: SequenceState, start: number, end: number, { cut }: Pick<KvTools, 'cut'>): SequenceState {
  if (start === 0 && end === of.positions.length) return of;
  const parts = known.get(of) ?? new Map<string, SequenceState>();
  known.set(of, parts);
  const name = `${start} ${end}`;
  const found = parts.get(name) ?? cut(of, start, end);
  parts.set(name, found);
  return found;
}

/**
 * Cuts the cells that were evaluated in one piece: the header, and the shared tokens behind it, which are those of its
 * beginning where blocks do not see the header.
 */
export function frontCells(
  whole: SequenceState,
  headerTokens: number,
  { context, sink: { tokens, kept } = { tokens: 0, kept: false } }: BlockMaking,
  kv: Pick<KvTools, 'cut'>,
): FrontCells {
  const header = part(whole, 0, headerTokens, kv);
  const start = context === 'none' ? 0 : headerTokens;
  const end = start + tokens;
  return {
    header,
    front: end === 0 ? null : part(whole, 0, end, kv),
    sink: kept ? part(whole, start, end, kv) : null,
  };
}
