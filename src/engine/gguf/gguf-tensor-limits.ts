import { type GgufFile, type GgufTensorInfo, refusal } from './gguf-file.ts';

const FLOAT32 = 0;
/** Types that no weights are multiplied in: of intermediate results, whole numbers, and numbers of 64 bits, as GGML numbers them. */
const NOT_OF_WEIGHTS = [9, 15, 24, 25, 26, 27, 28];
const FREQUENCY_FACTORS = 'rope_freqs.weight';
/** The numbers of an FFN, in layers that are no mixture of experts. */
const FFN = /^blk\.(\d+)\.ffn_(?:up|down)\.weight$/;

/** Sizes of the header that tensors must agree with. */
export interface TensorFacts {
  readonly architecture: string;
  /** Numbers of a head that are rotated. */
  readonly rotated: number | undefined;
  /** Width of the FFN, of a layer. */
  readonly ffnLength: (layer: number) => number;
}

/**
 * Refuses tensors on whose types llama.cpp ends the process when it computes with them, and shapes on which it ends it when it
 * makes them ready. Shapes that do not agree with the header are left to it.
 * @throws BenchError `bad-model` naming the tensor
 */
export function requireComputable({ path, tensors }: GgufFile, facts: TensorFacts): void {
  const refuse = ({ name }: GgufTensorInfo, why: string): never => {
    throw refusal(path, `tensor ${JSON.stringify(name)} ${why}`);
  };
  for (const tensor of tensors) {
    const { name, dimensions, type } = tensor;
    const [longest = 0, ...others] = dimensions.toSorted((a, b) => b - a);
    const isVector = others.every((size) => size === 1);
    if (isVector && type !== FLOAT32) refuse(tensor, `has numbers of type ${type}, expected a vector of 32-bit floats`);
    if (NOT_OF_WEIGHTS.includes(type)) refuse(tensor, `has numbers of type ${type}, in which no weights are`);
    if (name === FREQUENCY_FACTORS && (!isVector || longest < (facts.rotated ?? 0) / 2)) {
      refuse(tensor, `has ${dimensions.join(' × ')} numbers, expected one for each pair of ${facts.rotated} numbers`);
    }
    const layer = FFN.exec(name)?.[1];
    if (layer !== undefined && facts.ffnLength(Number(layer)) < 1) {
      refuse(tensor, `is there, and ${facts.architecture}.feed_forward_length says that there is none`);
    }
  }
}
