import { type Figure } from '../../render/figure.ts';
import { formatNumber } from '../../render/table.ts';
import type { RunResults } from '../../store/records/results.ts';
import type { StorageMeasurement } from '../../store/records/measured.ts';
import { categories, distinct, layer, nameAxis, quantity } from './figure-parts.ts';

const label = ({ tier, kvType }: StorageMeasurement): string => (tier === 'text' ? `text, ${kvType}` : `KV, ${kvType}`);

const grouped = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 0 });

/** `a memory token takes 2.3 bytes as text; KV in F16 takes 2,048 in memory, 893 times as many; …` */
function storageFinding(storage: readonly StorageMeasurement[], tokens: number): string {
  const longest = storage.filter((row) => row.tokens === tokens);
  const text = longest.find(({ tier }) => tier === 'text')?.bytesPerToken;
  const kept = longest
    .filter(({ tier }) => tier === 'memory')
    .map(({ kvType, bytesPerToken }) => {
      const times = text === undefined ? '' : `, ${grouped(bytesPerToken / text)} times the text`;
      return `${grouped(bytesPerToken)} as KV in ${kvType}${times}`;
    });
  const asText = text === undefined ? [] : [`${formatNumber(text, 1)} as text`];
  return `Bytes of a memory token: ${[...asText, ...kept].join('; ')}`;
}

/** Figure 8: bytes per token by tier and type of KV, on a logarithmic scale; undefined if not measured. */
export function storageFigure(results: RunResults): Figure | undefined {
  const storage = results.measured?.storage;
  if (storage === undefined || storage.length === 0) return undefined;
  const data = storage.map((row) => ({
    keptAs: label(row),
    tier: row.tier,
    memoryTokens: row.tokens,
    bytesPerToken: row.bytesPerToken,
  }));
  const largest = Math.max(...data.map(({ memoryTokens }) => memoryTokens));
  const values = Array.from({ length: 7 }, (_, power) => 10 ** power);
  const words = data
    .filter(({ memoryTokens }) => memoryTokens === largest)
    .map(({ keptAs, tier, bytesPerToken }) => {
      return `${keptAs}${tier === 'text' ? '' : ` on ${tier}`} ${formatNumber(bytesPerToken, 1)}`;
    });
  return {
    id: 'storage',
    title: `Figure 8. ${storageFinding(storage, largest)}`,
    key: 'A mark for each length of memory; the number is that of the longest.',
    description: `Bytes per token, logarithmic, one mark per length of memory; at ${largest} tokens: ${words.join('; ')}.`,
    data,
    spec: {
      width: 270,
      height: 150,
      encoding: {
        y: nameAxis('keptAs', distinct(data.map(({ keptAs }) => keptAs))),
        yOffset: { field: 'tier', type: 'nominal', sort: ['text', 'memory', 'disk'] },
        x: {
          field: 'bytesPerToken',
          ...quantity(
            'Bytes per token',
            { type: 'log', domainMin: 1, nice: true },
            { grid: true, format: ',d', values },
          ),
        },
      },
      layer: [
        {
          mark: { type: 'point', size: 60 },
          encoding: {
            color: categories('tier', { text: '#6b6f71', memory: '#ad420a', disk: '#268eea' }),
            shape: categories('tier', { text: 'circle', memory: 'diamond', disk: 'square' }),
          },
        },
        layer(
          `datum.memoryTokens == ${largest}`,
          { type: 'text', align: 'left', dx: 9 },
          { text: { field: 'bytesPerToken', type: 'quantitative', format: ',.4~r' } },
        ),
      ],
    },
  };
}
