import { formatNumber } from '../../render/format-number.ts';
import { type Section, sectionColumns, textBlocks } from '../../render/section.ts';
import type { AttributionRecord } from '../../store/records/attribution-record.ts';

const MAX_MEMORIES = 40;

/**
 * Leave-one-out attribution: for each memory, ln p of the answer without it, and the difference to ln p with all memories.
 * The bar extends from the middle to the right if the memory made the answer likelier.
 */
export function attributionSection({ method, logProbability, memories, modelMs }: AttributionRecord): Section {
  const differences = memories.map((memory) => logProbability - memory.logProbability);
  const largest = Math.max(...differences.map(Math.abs));
  const unit = method === 'blocks' ? 'KV block' : 'line of the text';
  return {
    id: 'attribution',
    heading: `Leave-one-out attribution, by ${unit}`,
    blocks: [
      ...textBlocks(`ln p of the answer with all memories: ${formatNumber(logProbability, 3)}`),
      {
        kind: 'table',
        what: 'attributions',
        rowHeading: 'memory',
        columns: sectionColumns({ 'ln p without it': 'number', difference: 'bar' }),
        rows: memories.map(({ memoryId, logProbability: value }, index) => {
          const difference = differences[index]!;
          const share = largest === 0 ? 0 : Math.abs(difference) / largest / 2;
          const [look, start] = difference >= 0 ? ['helped', 0.5] : ['harmed', 0.5 - share];
          return {
            label: memoryId,
            cells: [
              { content: formatNumber(value, 3) },
              {
                content: `${difference > 0 ? '+' : ''}${formatNumber(difference, 3)}`,
                bar: [
                  { look, start, share },
                  { look: 'axis', start: 0.499, share: 0.002 },
                ],
              },
            ],
          };
        }),
        most: MAX_MEMORIES,
      },
      {
        kind: 'note',
        content: `Above 0, the memory made the answer likelier. Time in the model: ${formatNumber(modelMs, 0)} ms.`,
      },
    ],
  };
}
