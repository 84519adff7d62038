import { printable } from '../report/printable.ts';
import { coloured, emphasised, type Page } from '../report/render-terminal.ts';
import { padText, wrapText } from '../report/text-width.ts';
import type { InspectedTurn } from './stored-turn.ts';
import { turnDifferences } from './turn-differences.ts';
import { turnSections } from './turn-sections.ts';

const columnGap = ' │ ';
/** Below this, two arms stand one after the other. */
const sideBySideColumns = 120;

function header(runName: string, { itemId, userId, arm, repeat, turn }: InspectedTurn): string {
  return `run ${runName} · item ${itemId} · user ${userId} · arm ${arm} · repeat ${repeat} · turn ${turn}`;
}

/** A turn as lines: what is left of a failed one is the reason. */
function turnLines(runName: string, turn: InspectedTurn, page: Page): string[] {
  const head = wrapText(printable(header(runName, turn)), page.width).map((line) => emphasised(line, page));
  if (turn.state === 'failed') return [...head, '', ...wrapText(printable(`failed: ${turn.error}`), page.width)];
  const sections = turnSections(turn, page.width);
  return [
    ...head,
    ...sections.flatMap(({ heading, lines }) => [
      '',
      ...wrapText(heading, page.width).map((line) => coloured(line, 'cyan', page)),
      ...lines,
    ]),
  ];
}

/** One turn for the terminal: what the model was given, what it made of it, and what that took. */
export function printTurn(runName: string, turn: InspectedTurn, page: Page): string {
  return `${turnLines(runName, turn, page)
    .map((line) => line.trimEnd())
    .join('\n')}\n`;
}

/** Two arms on one item, side by side where the page is wide enough, and what differs. */
export function printTwoTurns(runName: string, [a, b]: readonly [InspectedTurn, InspectedTurn], page: Page): string {
  const differences =
    a.state === 'answered' && b.state === 'answered'
      ? turnDifferences(a, b).flatMap((line) => wrapText(printable(line), page.width))
      : [];
  const summary =
    differences.length === 0
      ? []
      : ['', coloured(`What differs between ${a.arm} and ${b.arm}`, 'cyan', page), ...differences];
  if (page.width < sideBySideColumns) {
    const separator = ['', '─'.repeat(page.width), ''];
    const lines = [...turnLines(runName, a, page), ...separator, ...turnLines(runName, b, page), ...summary];
    return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
  }
  const width = Math.floor((page.width - columnGap.length) / 2);
  const left = turnLines(runName, a, { ...page, width });
  const right = turnLines(runName, b, { ...page, width });
  const lines = Array.from({ length: Math.max(left.length, right.length) }, (_, index) =>
    (padText(left[index] ?? '', width) + columnGap + (right[index] ?? '')).trimEnd(),
  );
  return `${[...lines, ...summary].join('\n')}\n`;
}
