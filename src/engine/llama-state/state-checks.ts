import { BenchError } from '../../base/bench-error.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { hasFiniteNumbers } from '../finite-numbers.ts';
import { keyRowBytes, type KvLayout, sameLayout, type SequenceState, valueRowBytes } from '../sequence-state.ts';
import { UNKNOWN_TOKEN } from '../token-id.ts';
import { type ParsedState, PLACEHOLDER_TOKEN } from './state-file.ts';

/** @throws BenchError `bad-state` naming what is wrong with cells that are to be imported */
export function requireImportable({ layout, positions, tokenIds, keys, values }: SequenceState, own: KvLayout): void {
  if (!sameLayout(layout, own)) throw unusable('another layout than that of this model and its K/V type');
  const cells = positions.length;
  const wrongSize = (tensors: readonly Uint8Array[], rowBytes: number): boolean =>
    tensors.length !== own.layers || tensors.some(({ length }) => length !== cells * rowBytes);
  if (tokenIds.length !== cells || wrongSize(keys, keyRowBytes(own)) || wrongSize(values, valueRowBytes(own))) {
    throw unusable(`arrays that do not hold ${cells} cells in ${own.layers} layers`);
  }
  const negative = positions.find((position) => position < 0);
  if (negative !== undefined) throw unusable(`a cell has the position ${negative}, which llama.cpp would ignore`);
}

/** @throws BenchError `bad-state` where a file is not that of a checkpoint, or of another model */
export function requireFileOf(
  file: Pick<ParsedState, 'tensors' | 'tokens'>,
  { tokens }: Checkpoint,
  path: string,
  own: KvLayout,
): void {
  const { tensors: found } = file;
  const refuse = (why: string): never => {
    throw unusable(why, path);
  };
  requireOrderOfValues(file, path, own);
  if (found.layers !== own.layers) refuse(`${found.layers} layers, and the model has ${own.layers}`);
  if (found.keyType !== own.keyType || found.keyRowBytes !== keyRowBytes(own)) {
    refuse('the keys of layer 0 have another layout');
  }
  if (found.valueType !== own.valueType || found.valueRowBytes !== valueRowBytes(own)) {
    refuse('the values of layer 0 have another layout');
  }
  const listed = tokens.map((token) => (token === UNKNOWN_TOKEN ? PLACEHOLDER_TOKEN : token));
  const same = listed.length === file.tokens.length && listed.every((token, index) => token === file.tokens[index]);
  if (!same) refuse('its tokens are not those of the checkpoint');
}

/** The order says whether flash attention was on, whatever a context was asked for. */
export function requireOrderOfValues({ tensors }: Pick<ParsedState, 'tensors'>, path: string, own: KvLayout): void {
  if (tensors.valuesTransposed === own.valuesTransposed) return;
  throw unusable(`made ${tensors.valuesTransposed ? 'without' : 'with'} flash attention`, path);
}

/** Before llama.cpp has them: its context would keep them where no sequence sees them. @throws BenchError `bad-state` */
export function requireFiniteNumbers(state: Parameters<typeof hasFiniteNumbers>[0], name?: string): void {
  if (!hasFiniteNumbers(state)) throw unusable('keys or values that are not finite numbers', name);
}

/** The error of a state that must not be loaded. */
export function unusable(why: string, name = 'K/V state'): BenchError {
  return new BenchError('bad-state', `${name}: unusable K/V state: ${why}`, 'it will be computed again');
}
