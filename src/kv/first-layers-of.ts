import type { SequenceState } from '../engine/sequence-state.ts';
import { ownedState } from './owned-state.ts';

/** The first layers of a state: views of the same cells, which last as long as the state. */
export function firstLayersOf(state: SequenceState, layers: number): SequenceState {
  const { layout, positions, tokenIds, keys, values } = state;
  return ownedState({
    layout: { ...layout, layers },
    positions,
    tokenIds,
    keys: keys.slice(0, layers),
    values: values.slice(0, layers),
  });
}
