import { cutBlock } from '../../kv/cut-block.ts';
import { joinBlocks } from '../../kv/join-blocks.ts';
import type { KvCells } from '../../kv/sequence-state.ts';
import type { ModelInfo } from '../../llm/model-info.ts';

/** A state of a prefix with the values of its memory lines multiplied, the header's untouched; the cells stay as they are. */
export function scaledPrefix(
  cells: KvCells,
  headerTokens: number,
  alpha: number,
  info: ModelInfo,
): Uint8Array<ArrayBuffer> {
  const header = cutBlock(cells, 0, headerTokens);
  const memories = cutBlock(cells, headerTokens, cells.positions.length);
  return joinBlocks(header, [{ block: memories, position: headerTokens, alpha }], {
    keys: info,
    sequences: info.contextOptions.sequences,
  });
}
