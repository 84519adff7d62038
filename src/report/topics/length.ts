/** Time to first token by length of the memories and tier (table 14), and the lengths at which tiers beat recomputation (14b). */
import { quantiles } from '../../eval/analysis/statistics/estimate-mean.ts';
import { lengthBreakEvens, totals, wayName } from '../../eval/analysis/summary/length-break-even.ts';
import { groupedNumber } from '../../render/format-number.ts';
import { countColumn, numberColumn, type Table, textColumn, titled } from '../../render/table.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import {
  atFullLayers,
  type LengthMeasurement,
  type LengthStep,
  lengthSteps,
} from '../../store/records/suite-measurements.ts';
import { runTable } from '../tables/table-parts.ts';

/** Steps that move all stored bytes, so that a speed makes sense. */
const MOVING: readonly LengthStep[] = ['read', 'verify', 'convert', 'join', 'import'];

export function lengthTable(results: RunResults, measuredLayers: readonly LengthMeasurement[]): Table {
  const measured = atFullLayers(measuredLayers);
  const stepMs = ({ repeats }: LengthMeasurement, step: LengthStep): number | null =>
    quantiles(repeats.map(({ steps }) => steps[step])).p50 || null;
  const textMs = (tokens: number): number | undefined => {
    const text = measured.find((row) => row.way === 'text' && row.tokens === tokens);
    return text && quantiles(totals(text)).p50;
  };
  const speed = (row: LengthMeasurement, step: LengthStep) => {
    const ms = stepMs(row, step);
    return ms === null || row.bytes === 0 ? null : row.bytes / 1e6 / (ms / 1000);
  };
  const joules = ({ repeats }: LengthMeasurement) => {
    const known = repeats.flatMap(({ joules: spent }) => spent ?? []);
    return known.length < repeats.length ? null : quantiles(known).p50;
  };
  return runTable(results, measured, wayName, {
    id: 'table-14',
    title: `Table 14. Time to first token by length of the memories and tier of KV: ${results.run.model.name}`,
    rowHeading: 'way',
    blocks: [
      {
        columns: [
          countColumn('tokens', 'memory tokens', ({ tokens }) => tokens),
          numberColumn('ttft', 'TTFT p50 (ms)', (row) => quantiles(totals(row)).p50, 1),
          numberColumn('ofText', '× text', (row) => quantiles(totals(row)).p50 / (textMs(row.tokens) ?? NaN), 3),
          countColumn('evaluated', 'tokens evaluated', ({ evaluated }) => evaluated),
          textColumn('sameToken', 'token of the text', ({ sameToken }) => (sameToken ? 'yes' : 'no')),
          numberColumn('bytes', 'bytes per token', ({ bytes, tokens }) => (bytes === 0 ? null : bytes / tokens), 0),
          numberColumn('joules', 'energy (J)', joules, 2),
          countColumn('n', 'n', ({ repeats }) => repeats.length),
        ],
      },
      titled(
        'Milliseconds, p50',
        lengthSteps.map((step) => numberColumn(`ms:${step}`, step, (row) => stepMs(row, step), 2)),
      ),
      titled(
        'MB/s of stored bytes',
        MOVING.map((step) => countColumn(`speed:${step}`, step, (row) => speed(row, step))),
      ),
    ],
    notes: [
      'Behind the memories stand 24 tokens of a query; `resident` is the query alone, behind KV that is in the session: no way can be',
      'faster. Disk: with a warm page cache. Guest-cold: this system had dropped its cache, which the bytes read from the disk prove;',
      'a host below may have kept its own. Bytes per token: with the header of 16 tokens. Energy: of the processor packages',
      'by RAPL and of NVIDIA boards by nvidia-smi, whose power is sampled every 20 ms; a dash where the system tells neither.',
      ...layersNote(measuredLayers),
    ],
  });
}

/** Says that a random model had fewer layers than the one it stands for. */
function layersNote([first]: readonly LengthMeasurement[]): string[] {
  if (first?.layers === undefined) return [];
  const { measured, full } = first.layers;
  return [
    `Measured with ${measured} of ${full} layers, and multiplied by ${full / measured}: bytes, joules and the time of each step but`,
    '`find` are taken to grow in proportion to the layers. The output layer, of a vocabulary of 2,560 tokens, hardly counts.',
  ];
}

export function lengthBreakEvenTable(results: RunResults, measured: readonly LengthMeasurement[]): Table | undefined {
  const lengths = measured.map(({ tokens }) => tokens);
  const text = (tokens: number | null): string => {
    if (tokens === null) return `not up to ${groupedNumber(Math.max(...lengths))}`;
    return tokens === 0 ? `≤ ${groupedNumber(Math.min(...lengths))}` : groupedNumber(tokens);
  };
  const rows = lengthBreakEvens(measured);
  if (rows.length === 0) return undefined;
  return runTable(results, rows, ({ way }) => wayName(way), {
    id: 'table-14b',
    title: `Table 14b. Length from which stored KV reaches the first token before the text: ${results.run.model.name}`,
    rowHeading: 'way',
    columns: [
      textColumn('from', 'from (tokens)', ({ tokens }) => text(tokens)),
      textColumn('low', '95 % from', ({ low }) => text(low)),
      textColumn('high', 'to', ({ high }) => text(high)),
    ],
    notes: [
      'Medians, interpolated between the measured lengths; intervals by resampling the repeats.',
      ...layersNote(measured),
    ],
  });
}
