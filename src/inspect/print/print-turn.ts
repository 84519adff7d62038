import { printable } from '../../report/render/printable.ts';
import { coloured, emphasised, type Page } from '../../report/render/terminal.ts';
import { padText, wrapText } from '../../report/render/text-width.ts';
import type { InspectedTurn } from '../stored-turn.ts';
import { turnDifferences } from './turn-differences.ts';
import { type PrintedBeside, turnSections } from './turn-sections.ts';

const columnGap = ' │ ';
/** Below this, two arms stand one after the other. */
const sideBySideColumns = 120;

function header(runName: string, { itemId, userId, arm, repeat, turn }: InspectedTurn): string {
  return `run ${runName} · item ${itemId} · user ${userId} · arm ${arm} · repeat ${repeat} · turn ${turn}`;
}

/** A turn as blocks of lines, its header first; what is left of a failed one is the reason. */
function turnBlocks(runName: string, turn: InspectedTurn, page: Page, known: PrintedBeside): string[][] {
  const head = wrapText(printable(header(runName, turn)), page.width).map((line) => emphasised(line, page));
  if (turn.state === 'failed') return [head, wrapText(printable(`failed: ${turn.error}`), page.width)];
  const sections = turnSections(turn, page, known).map(({ heading, lines }) => [
    ...wrapText(heading, page.width).map((line) => coloured(line, 'cyan', page)),
    ...lines,
  ]);
  return [head, ...sections];
}

function joined(blocks: readonly (readonly string[])[]): string {
  return `${blocks.map((lines) => lines.map((line) => line.trimEnd()).join('\n')).join('\n\n')}\n`;
}

/** Blocks of two turns side by side, those of one height beside each other. */
function sideBySide(left: readonly string[][], right: readonly string[][], width: number): string[][] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, block) => {
    const [a, b] = [left[block] ?? [], right[block] ?? []];
    return Array.from(
      { length: Math.max(a.length, b.length) },
      (_, line) => padText(a[line] ?? '', width) + columnGap + (b[line] ?? ''),
    );
  });
}

/** A turn with what is known beside it. */
export interface PrintedTurn extends PrintedBeside {
  readonly turn: InspectedTurn;
}

/** One turn for the terminal: what the model was given, what it made of it, and what that took. */
export function printTurn(runName: string, turn: InspectedTurn, page: Page, known: PrintedBeside = {}): string {
  return joined(turnBlocks(runName, turn, page, known));
}

/** Two arms on one item, side by side where the page is wide enough, and what differs. */
export function printTwoTurns(runName: string, [a, b]: readonly [PrintedTurn, PrintedTurn], page: Page): string {
  const wide = page.width >= sideBySideColumns;
  const width = wide ? Math.floor((page.width - columnGap.length) / 2) : page.width;
  const [left, right] = [a, b].map((one) => turnBlocks(runName, one.turn, { ...page, width }, one)) as [
    string[][],
    string[][],
  ];
  const both = wide ? sideBySide(left, right, width) : [...left, ['─'.repeat(width)], ...right];
  if (a.turn.state === 'failed' || b.turn.state === 'failed') return joined(both);
  const differences = turnDifferences(a.turn, b.turn).flatMap((line) => wrapText(printable(line), page.width));
  const heading = coloured(`What differs between ${a.turn.arm} and ${b.turn.arm}`, 'cyan', page);
  return joined([...both, [heading, ...differences]]);
}
