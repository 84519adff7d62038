import { statSync } from 'node:fs';
import { copyModel, type CopiedTensor, type CopyChanges } from './copied-file.ts';
import { type GgufFile, readGgufFile } from './gguf-file.ts';
import { withQueries } from './query-layer.ts';

const LAYER = /^blk\.(\d+)\./;

/**
 * Writes a model of another model's first layers: its number of layers is another one, the tensors of the later layers are
 * left out, and every other byte of metadata and tensors is copied, so that it has the same tokens and computes the same
 * keys and values there. What it says behind them means nothing.
 * @param layers from 1 to those of the model
 * @param queries puts the queries of the last layer in the place of its keys: see `withQueries`
 * @throws BenchError `disk` where it cannot be written, `bad-model` where the model cannot be read
 */
export async function writeFirstLayers(from: string, to: string, layers: number, queries = false): Promise<void> {
  const file = readGgufFile(from);
  const architecture = file.metadata.get('general.architecture')!.value as string;
  const first: CopyChanges = {
    tensors: keptTensors(file, layers),
    counts: { [`${architecture}.block_count`]: layers },
  };
  await copyModel(file, to, queries ? withQueries(file, first, layers) : first);
}

/** In the order of the file, each with what pads it. */
function keptTensors({ path, tensors }: GgufFile, layers: number): CopiedTensor[] {
  const inOrder = tensors.toSorted((a, b) => a.fileOffset - b.fileOffset);
  const { size } = statSync(path);
  return inOrder
    .map(({ name, dimensions, type, fileOffset: start }, index): CopiedTensor => {
      const pieces = [{ start, end: inOrder[index + 1]?.fileOffset ?? size }];
      return { name, dimensions, type, pieces };
    })
    .filter(({ name }) => Number(LAYER.exec(name)?.[1] ?? -1) < layers);
}
