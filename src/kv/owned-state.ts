import { cellBytes, type SequenceState } from '../engine/sequence-state.ts';

/** A state in plain memory, which is the garbage collector's: disposing of it does nothing. */
export function ownedState(parts: Omit<SequenceState, typeof Symbol.dispose>): SequenceState {
  return { ...parts, [Symbol.dispose]: () => undefined };
}

/** Bytes of the keys and values of all cells of a state. */
export function kvBytes({ layout, positions }: Pick<SequenceState, 'layout' | 'positions'>): number {
  return positions.length * cellBytes(layout);
}
