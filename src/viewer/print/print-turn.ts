import { printable } from '../../render/printable.ts';
import { coloured, emphasised, type Page } from '../../render/terminal.ts';
import { padText, wrapText } from '../../render/text-width.ts';
import type { InspectedTurn } from '../stored-turn.ts';
import { failureInWords } from '../turn/answer-in-words.ts';
import { turnDifferences } from './turn-differences.ts';
import { type TurnContext, turnSections } from './turn-sections.ts';

const columnGap = ' │ ';
/** On narrower pages, two arms are printed one after the other. */
const sideBySideColumns = 120;

function header(runName: string, { itemId, userId, arm, repeat, turn }: InspectedTurn): string {
  return `run ${runName} · item ${itemId} · user ${userId} · arm ${arm} · repeat ${repeat} · turn ${turn}`;
}

/** A turn as blocks of lines, its header first; of a failed one, the reason alone. */
function turnBlocks(runName: string, turn: InspectedTurn, page: Page, context: TurnContext): string[][] {
  const head = wrapText(printable(header(runName, turn)), page.width).map((line) => emphasised(line, page));
  if (turn.state === 'failed') return [head, wrapText(printable(`failed: ${failureInWords(turn)}`), page.width)];
  const sections = turnSections(turn, page, context).map(({ heading, lines }) => [
    ...wrapText(heading, page.width).map((line) => coloured(line, 'cyan', page)),
    ...lines,
  ]);
  return [head, ...sections];
}

function joined(blocks: readonly (readonly string[])[]): string {
  return `${blocks.map((lines) => lines.map((line) => line.trimEnd()).join('\n')).join('\n\n')}\n`;
}

/** Joins the blocks of two turns side by side, block by block. */
function sideBySide(left: readonly string[][], right: readonly string[][], width: number): string[][] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, block) => {
    const [a, b] = [left[block] ?? [], right[block] ?? []];
    return Array.from(
      { length: Math.max(a.length, b.length) },
      (_, line) => padText(a[line] ?? '', width) + columnGap + (b[line] ?? ''),
    );
  });
}

/** A turn with its context. */
export interface PrintedTurn extends TurnContext {
  readonly turn: InspectedTurn;
}

/** Prints one turn for a terminal: the sequence that the model was given, its answer, and the cost. */
export function printTurn(runName: string, turn: InspectedTurn, page: Page, context: TurnContext = {}): string {
  return joined(turnBlocks(runName, turn, page, context));
}

/** Prints two arms on one item, side by side if the page is wide enough, and their differences. */
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
  const heading = coloured(`Differences between ${a.turn.arm} and ${b.turn.arm}`, 'cyan', page);
  return joined([...both, [heading, ...differences]]);
}
