import { printable } from '../../render/printable.ts';
import type { Page } from '../../render/terminal.ts';
import { padText, wrapText } from '../../render/text-width.ts';
import { formatNumber } from '../../render/table.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { inBytes, kvSummary } from '../turn/kv-part.ts';
import { kvPieces } from '../turn/kv-pieces.ts';
import { cacheInWords } from '../turn/timings-part.ts';
import { turnPhases } from '../turn/turn-phases.ts';
import { barOf, beside, type Section, shortened } from './section.ts';

const columns = [
  { heading: 'origin', width: 8 },
  { heading: 'tokens', width: 6 },
  { heading: 'positions', width: 9 },
  { heading: 'size', width: 9 },
  { heading: 'α', width: 5 },
  { heading: 'ms', width: 6 },
] as const;
const gap = ' ';
const taken = columns.reduce((sum, { width }) => sum + gap.length + width, 0);

/** Section on the injected K/V: origin, place and size of each block. */
export function kvSection(turn: AnsweredTurn, { width }: Page): Section {
  const pieces = kvPieces(turn.prefill);
  const nameColumns = Math.max(8, Math.min(18, width - taken));
  const rows = pieces.map(({ name, memoryId, origin, tokens, position, sizeBytes, alpha, computeMs, key }) => {
    const values = [
      origin,
      String(tokens),
      `${position}-${position + tokens - 1}`,
      inBytes(sizeBytes),
      formatNumber(alpha, 3),
      origin === 'computed' ? formatNumber(computeMs, 2) : '–',
    ];
    const cells = values.map((value, index) => padded(value, columns[index]!.width, index === 0));
    const line = [padText(shortened(printable(memoryId ?? name), nameColumns), nameColumns), ...cells].join(gap);
    return width - line.length > 10 ? `${line} ${printable(key.slice(0, 8))}…` : line;
  });
  const headings = columns.map(({ heading, width: cell }, index) => padded(heading, cell, index === 0));
  return {
    heading: 'Keys and values',
    lines: [
      ...wrapText(printable(kvSummary(turn)), width),
      ...(rows.length === 0 ? [] : [[padText('block', nameColumns), ...headings].join(gap)]),
      ...rows,
    ],
  };
}

const padded = (text: string, width: number, left: boolean): string =>
  left ? padText(text, width) : text.padStart(width);

/** Section on token counts and on the phases of the turn, one after the other. */
export function costSection(turn: AnsweredTurn, { width }: Page): Section {
  const { tokens, timings, account } = turn;
  const expected = account.evaluated;
  const counts = [
    `${tokens.prompt} prompt`,
    `${tokens.kvResident} K/V resident`,
    `${tokens.evaluated} evaluated${expected === tokens.evaluated ? '' : ` (${expected} expected)`}`,
    `${tokens.generated} generated`,
    `${tokens.positions} positions`,
  ];
  const phases = turnPhases(turn);
  const whole = Math.max(timings.total, ...phases.map(({ startMs, ms }) => startMs + ms));
  const barColumns = Math.max(8, Math.min(40, width - 28));
  const line = (name: string, startMs: number, ms: number, mark?: string): string =>
    `${padText(name, 15)} ${formatNumber(ms, 2).padStart(9)}  ${barOf(startMs / whole, ms / whole, barColumns, mark)}`;
  return {
    heading: `Cost (${cacheInWords(turn)})`,
    lines: [
      ...beside('tokens', counts.join(' · '), 10, width),
      `${padText('', 15)} ${'ms'.padStart(9)}`,
      ...phases.map(({ name, startMs, ms }) => line(name, startMs, ms)),
      line('first token', 0, timings.firstToken, '▒'),
      line('total', 0, timings.total, '░'),
    ],
  };
}
