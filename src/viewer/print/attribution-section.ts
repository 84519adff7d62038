import { printable } from '../../render/printable.ts';
import { padText, textWidth } from '../../render/text-width.ts';
import { formatNumber } from '../../render/table.ts';
import type { AttributionRecord } from '../../store/records/attribution-record.ts';

const methods: Readonly<Record<AttributionRecord['method'], string>> = {
  blocks: 'left out as a block of K/V',
  text: 'left out as a line of the text',
};
const mostNameColumns = 28;
const numberColumns = 10;
const gap = '  ';

/** The end of a name that is too wide: ids of one user have a common beginning. */
function shortened(name: string): string {
  const characters = [...name];
  while (textWidth(characters.join('')) > mostNameColumns - 1) characters.shift();
  return characters.length === [...name].length ? name : `…${characters.join('')}`;
}

const nats = (value: number): string => formatNumber(value, 3);

/**
 * Section on the leave-one-out attribution: for each memory ln p of the answer without it, the difference to ln p with all
 * memories, and that difference as a bar, hatched if the answer was likelier without the memory.
 */
export function attributionSection(
  { method, logProbability, memories }: AttributionRecord,
  width: number,
): { readonly heading: string; readonly lines: readonly string[] } {
  const names = memories.map(({ memoryId }) => shortened(printable(memoryId)));
  const nameColumns = Math.max('left out'.length, ...names.map(textWidth));
  const differences = memories.map((memory) => logProbability - memory.logProbability);
  const largest = Math.max(...differences.map(Math.abs));
  const barColumns = Math.max(4, Math.min(24, width - nameColumns - 2 * (numberColumns + gap.length) - gap.length));
  const bar = (difference: number): string => {
    const columns = largest === 0 ? 0 : Math.round((Math.abs(difference) / largest) * barColumns);
    return (difference > 0 ? '█' : '░').repeat(columns);
  };
  const row = (name: string, without: string, difference: string, drawn: string): string =>
    [padText(name, nameColumns), without.padStart(numberColumns), difference.padStart(numberColumns), drawn]
      .join(gap)
      .trimEnd();
  return {
    heading: `Leave-one-out attribution, ${methods[method]}`,
    lines: [
      row('left out', 'ln p', 'difference', ''),
      row('(none)', nats(logProbability), '', ''),
      ...memories.map((memory, index) => {
        const difference = differences[index]!;
        const signed = `${difference < 0 ? '' : '+'}${nats(difference)}`;
        return row(names[index]!, nats(memory.logProbability), signed, bar(difference));
      }),
    ],
  };
}
