import { formatNumber } from '../../render/table.ts';
import { printable } from '../../render/printable.ts';
import { coloured, emphasised, type Page } from '../../render/terminal.ts';
import { padText, textWidth, wrapText } from '../../render/text-width.ts';
import type { MemorySearchResult, Retrieval } from '../../retrieval/retriever.ts';

/** A retrieval, and what was searched. */
export interface FoundMemories extends Omit<Retrieval, 'summary'> {
  readonly question: string;
  readonly user: string;
  readonly dataset: string;
  /** ISO 8601: the time at which the question is asked. */
  readonly at: string;
  /** Number of memories that the user has. */
  readonly held: number;
  /** Text of the strategy's own summary, of a strategy that makes one. */
  readonly summary?: string;
}

const gap = 2;
/** A memory's text is never squeezed into less; ids that leave no more stand on a line of their own. */
const LEAST_COLUMNS = 36;

/** Renders a retrieval for a terminal, within the width of the page. */
export function searchText(found: FoundMemories, page: Page): string {
  const { user, dataset, at, held, memories, summary } = found;
  const heading = `${memories.length} of ${held} memories of ${user}, ${dataset}, asked at ${at.slice(0, 16).replace('T', ' ')}`;
  const parts = [
    [...wrapped(heading, page.width).map((line) => emphasised(line, page)), ...facts(found, page)],
    memories.length === 0 ? ['nothing was retrieved'] : memoryLines(memories, page),
    ...(summary === undefined ? [] : [[emphasised('summary', page), ...summaryLines(summary, page)]]),
  ];
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** The strategy's own details: a name and a value each. */
function facts({ strategy, timingsMs, flags, details, tokensUsed, tokenBudget }: FoundMemories, page: Page): string[] {
  const { embedding, search, ranking } = timingsMs;
  const ms = (value: number): string => `${formatNumber(value, 1)} ms`;
  const rows: (readonly [string, string])[] = [
    ['retriever', strategy],
    ['time', `embedding ${ms(embedding)}, search ${ms(search)}, ranking ${ms(ranking)}`],
    ...(tokenBudget === undefined ? [] : [['tokens', `${tokensUsed ?? 0} of ${tokenBudget}`] as const]),
    ...detailRows(details),
    ...flags.map(({ flag, reason }) => [flag, reason] as const),
  ];
  const columns = Math.max(...rows.map(([name]) => textWidth(name))) + gap;
  return rows.flatMap(([name, value]) => hanging(padText(name, columns), wrapped(value, page.width - columns)));
}

/** The values of a strategy's details, at any depth; empty ones are left out. */
function detailRows(details: Readonly<Record<string, unknown>>, within = ''): (readonly [string, string])[] {
  return Object.entries(details).flatMap(([key, value]) => {
    const name = `${within}${words(key)}`;
    if (value === null || (Array.isArray(value) && value.length === 0)) return [];
    if (Array.isArray(value)) return [[name, value.map(plain).join(', ')] as const];
    if (typeof value === 'object') return detailRows(value as Readonly<Record<string, unknown>>, `${name}: `);
    return [[name, plain(value)] as const];
  });
}

/** `coldChunks` and `search_depth` as words. */
function words(key: string): string {
  return printable(key.replaceAll('_', ' ').replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function memoryLines(memories: readonly MemorySearchResult[], page: Page): string[] {
  const rows = memories.map(({ memoryId, score, content, path }, index) => ({
    rank: String(index + 1).padStart(String(memories.length).length),
    score: formatNumber(score, 3).padStart(6),
    id: printable(memoryId),
    content,
    path,
  }));
  const idColumns = Math.max(...rows.map(({ id }) => textWidth(id)));
  const before = textWidth(rows[0]!.rank) + gap + textWidth(rows[0]!.score) + gap;
  const isNarrow = page.width - before - idColumns - gap < LEAST_COLUMNS;
  const indent = isNarrow ? before : before + idColumns + gap;
  return rows.flatMap(({ rank, score, id, content, path }) => {
    const place =
      path === undefined ? [] : wrapped(path, page.width - indent).map((line) => coloured(line, 'gray', page));
    const lines = [...wrapped(content, page.width - indent), ...place];
    const head = `${rank}  ${score}  `;
    if (!isNarrow) return hanging(`${head}${padText(id, idColumns + gap)}`, lines);
    return hanging(head, [...wrapped(id, page.width - indent), ...lines]);
  });
}

function summaryLines(summary: string, page: Page): string[] {
  const indent = ' '.repeat(gap);
  return summary
    .trimEnd()
    .split('\n')
    .flatMap((line) => wrapped(line, page.width - gap).map((part) => `${indent}${part}`.trimEnd()));
}

/** Data on lines of at most so many columns, without control characters. */
function wrapped(text: string, width: number): string[] {
  return wrapText(printable(text), width);
}

/** The lines behind a head, which only the first of them shows. */
function hanging(head: string, lines: readonly string[]): string[] {
  const indent = ' '.repeat(textWidth(head));
  return lines.map((line, index) => `${index === 0 ? head : indent}${line}`);
}
