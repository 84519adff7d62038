import { BenchError, unknownOptionError } from '../../base/bench-error.ts';
import { readModelHeader } from './model-header.ts';
import { type ModelShape, modelShapes } from './random-model/model-shapes.ts';

/** Sizes of a model that decide its costs, known without its weights. */
export interface ModelGeometry {
  readonly name: string;
  readonly parameters: number;
  /** Keys and values in f16. */
  readonly kvBytesPerToken: number;
  /** Floating-point operations of attention per pair of a token and one before it, over all layers. */
  readonly operationsPerPair: number;
}

const F16_BYTES = 2;

const VOCABULARY = 128_256;

const { 'llama-8b-2-layers': few8b, 'llama-70b-1-layer': few70b } = modelShapes;

/** Dense shapes that can be estimated by name: those of whole random models, and the larger ones of Llama 3. */
const shapes: Readonly<Record<string, ModelShape>> = {
  ...Object.fromEntries(
    Object.entries<ModelShape>(modelShapes).filter(
      ([name, { fullLayers }]) => fullLayers === undefined && !name.startsWith('tiny-'),
    ),
  ),
  '8b': { ...few8b, layers: few8b.fullLayers, vocabularyTokens: VOCABULARY },
  '70b': { ...few70b, layers: few70b.fullLayers, vocabularyTokens: VOCABULARY },
};

export const shapeNames: readonly string[] = Object.keys(shapes);

/** The geometry of a named shape. @throws BenchError `bad-option` for an unknown one */
export function shapeGeometry(name: string): ModelGeometry {
  const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
  if (shape === undefined) throw unknownOptionError('--shape: unknown shape', name, shapeNames);
  const { layers, embeddingDimension, feedForwardDimension, heads, kvHeads, headDimension } = shape;
  const attention = 2 * embeddingDimension * (heads + kvHeads) * headDimension;
  const perLayer = attention + 3 * embeddingDimension * feedForwardDimension;
  const vocabulary = shape.vocabularyTokens * embeddingDimension * (shape.tiedOutput ? 1 : 2);
  return {
    name,
    parameters: layers * perLayer + vocabulary,
    kvBytesPerToken: F16_BYTES * 2 * layers * kvHeads * headDimension,
    operationsPerPair: pairOperations(shape),
  };
}

/**
 * The geometry of a GGUF file, from its header.
 * @throws BenchError `unsupported` for a model that does not keep keys and values for each token, `bad-model` as `readModelHeader`
 */
export function fileGeometry(path: string): ModelGeometry {
  const header = readModelHeader(path);
  if (header.isRecurrent || header.isCompressed) {
    const why = header.isRecurrent ? 'has layers with one state for all tokens' : 'keeps compressed vectors (MLA)';
    throw new BenchError('unsupported', `${path}: ${header.name} ${why}`, 'name a model that keeps keys and values');
  }
  return {
    name: header.name,
    parameters: header.parameters,
    kvBytesPerToken: F16_BYTES * header.kvNumbersPerToken,
    operationsPerPair: pairOperations(header, header.valueDimension),
  };
}

/** A multiplication and an addition per number of a key, and of a value. */
function pairOperations(
  { layers, heads, headDimension }: Pick<ModelShape, 'layers' | 'heads' | 'headDimension'>,
  valueDimension = headDimension,
): number {
  return 2 * layers * heads * (headDimension + valueDimension);
}
