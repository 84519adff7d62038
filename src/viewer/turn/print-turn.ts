import { printable } from '../../render/escape-control-characters.ts';
import { sectionLines } from '../../render/section-terminal.ts';
import { emphasised, padText, type Terminal, wrapText } from '../../render/terminal-text.ts';
import type { DisplayTurn } from '../turn-scores-for-display.ts';
import { turnDifferences } from './sequence-difference.ts';
import { failureText, type TurnContext, turnSections } from './turn-sections.ts';

const COLUMN_GAP = ' │ ';
/** On a narrower terminal, two turns are printed one after the other. */
const SIDE_BY_SIDE_COLUMNS = 120;

type PrintedTurn = TurnContext & { readonly turn: DisplayTurn };

/** Renders a turn for a terminal: sequence, answer, cost and the other sections. */
export function printTurn(runName: string, turn: DisplayTurn, page: Terminal, context: TurnContext = {}): string {
  return joinBlocks(turnBlocks(runName, { ...context, turn }, page));
}

/** Renders the turns of two arms on one item, side by side if the terminal is wide enough, and their differences. */
export function printTwoTurns(runName: string, [a, b]: readonly [PrintedTurn, PrintedTurn], page: Terminal): string {
  const isWide = page.width >= SIDE_BY_SIDE_COLUMNS;
  const width = isWide ? Math.floor((page.width - COLUMN_GAP.length) / 2) : page.width;
  const [left, right] = [turnBlocks(runName, a, { ...page, width }), turnBlocks(runName, b, { ...page, width })];
  const both = isWide ? sideBySide(left, right, width) : [...left, ['─'.repeat(width)], ...right];
  if (a.turn.state === 'failed' || b.turn.state === 'failed') return joinBlocks(both);
  return joinBlocks([...both, sectionLines(turnDifferences(a.turn, b.turn), page)]);
}

function turnBlocks(runName: string, { turn, ...context }: PrintedTurn, page: Terminal): string[][] {
  const { itemId, userId, arm, repeat, turn: number } = turn;
  const header = `run ${runName} · item ${itemId} · user ${userId} · arm ${arm} · repeat ${repeat} · turn ${number}`;
  const head = wrapText(printable(header), page.width).map((line) => emphasised(line, page));
  if (turn.state === 'failed') return [head, wrapText(printable(`failed: ${failureText(turn)}`), page.width)];
  return [head, ...turnSections(turn, context).map((section) => sectionLines(section, page))];
}

function joinBlocks(blocks: readonly (readonly string[])[]): string {
  return `${blocks.map((lines) => lines.map((line) => line.trimEnd()).join('\n')).join('\n\n')}\n`;
}

function sideBySide(left: readonly string[][], right: readonly string[][], width: number): string[][] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, block) => {
    const [a, b] = [left[block] ?? [], right[block] ?? []];
    return Array.from(
      { length: Math.max(a.length, b.length) },
      (__, line) => padText(a[line] ?? '', width) + COLUMN_GAP + (b[line] ?? ''),
    );
  });
}
