import { printable } from '../../render/escape-control-characters.ts';
import { sectionLines } from '../../render/section-terminal.ts';
import { emphasised, type Terminal, wrapText } from '../../render/terminal-text.ts';
import type { DisplayTurn } from '../turn-scores-for-display.ts';
import { turnDifferences } from './sequence-difference.ts';
import { failureText, type TurnContext, turnSections } from './turn-sections.ts';

type PrintedTurn = TurnContext & { readonly turn: DisplayTurn };

/** Renders a turn for a terminal: sequence, answer, cost and the other sections. */
export function printTurn(runName: string, turn: DisplayTurn, page: Terminal, context: TurnContext = {}): string {
  return joinBlocks(turnBlocks(runName, { ...context, turn }, page));
}

/** Renders the turns of two arms on one item, one after the other, and their differences. */
export function printTwoTurns(runName: string, [a, b]: readonly [PrintedTurn, PrintedTurn], page: Terminal): string {
  const both = [...turnBlocks(runName, a, page), ['─'.repeat(page.width)], ...turnBlocks(runName, b, page)];
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
