import type { RunResults, StorageMeasurement } from '../../store/records/results.ts';
import { captionOf, countCell, meanCell, none, type Block, type Cell, type Table } from '../../render/table.ts';

const ms = { align: 'right', unit: 'ms' } as const;

const blocks: readonly Block[] = [
  {
    title: 'Size',
    columns: [
      { align: 'right', key: 'tokens', heading: 'tokens' },
      { align: 'right', key: 'bytes', heading: 'bytes a token' },
      { align: 'right', key: 'times', heading: '× the text' },
    ],
  },
  {
    title: 'Time',
    columns: [
      { ...ms, key: 'saveP50', heading: 'save p50' },
      { ...ms, key: 'saveP95', heading: 'save p95' },
      { ...ms, key: 'loadP50', heading: 'load p50' },
      { ...ms, key: 'loadP95', heading: 'load p95' },
      { ...ms, key: 'evaluate', heading: 'evaluate' },
      { align: 'right', key: 'gain', heading: 'evaluate ÷ load' },
    ],
  },
];

const twoDigits = (value: number | undefined): Cell =>
  value === undefined ? none : { kind: 'number', value, digits: 2 };

function cellsOf(row: StorageMeasurement, textBytes: number | undefined): Record<string, Cell> {
  const { tokens, bytesPerToken, saveMs, loadMs, evaluateMs } = row;
  return {
    tokens: countCell(tokens),
    bytes: meanCell(bytesPerToken),
    times: textBytes === undefined ? none : meanCell(bytesPerToken / textBytes),
    saveP50: twoDigits(saveMs?.p50),
    saveP95: twoDigits(saveMs?.p95),
    loadP50: twoDigits(loadMs?.p50),
    loadP95: twoDigits(loadMs?.p95),
    evaluate: evaluateMs === null ? none : twoDigits(evaluateMs),
    gain: evaluateMs === null || loadMs === null ? none : meanCell(evaluateMs / loadMs.p50),
  };
}

/** Table 8: bytes of K/V on its tiers, beside those of the text. */
export function storageTable(results: RunResults, storage: readonly StorageMeasurement[]): Table {
  const textBytes = (tokens: number): number | undefined =>
    storage.find((row) => row.tier === 'text' && row.tokens === tokens)?.bytesPerToken;
  return {
    id: 'table-8',
    caption: captionOf(
      `Table 8. Bytes of K/V and of text, and time to save and load: ${results.run.model.name}`,
      results,
    ),
    rowHeading: 'kept as',
    blocks,
    rows: storage.map((row) => ({
      label: row.tier === 'text' ? `text, ${row.kvType}` : `${row.kvType}, ${row.tier}`,
      cells: cellsOf(row, textBytes(row.tokens)),
    })),
    notes: [
      'Disk: a state as llama.cpp writes and reads it. Memory: a block; saving cuts it out of a state, loading joins it and',
      'imports it into llama.cpp through a file, the only way. Evaluate: the same tokens as text.',
    ],
  };
}
