import type { Spread } from '../eval/dataset/verify/dataset-statistics.ts';
import type { Finding } from '../eval/dataset/verify/finding.ts';
import type { Verification } from '../eval/dataset/verify/verify-dataset.ts';
import { printable } from './render/printable.ts';
import { coloured, emphasised, type Page } from './render/terminal.ts';
import { formatNumber } from './table.ts';
import { wrapText } from './render/text-width.ts';

const MOST_FINDINGS = 50;
const SHOWN_HASH = 12;

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function spread({ least, median, most }: Spread): string {
  return least === most
    ? String(least)
    : `${least} to ${most} (median ${formatNumber(median, median % 1 === 0 ? 0 : 1)})`;
}

function tally(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([label, count]) => `${label} ${count}`)
    .join(', ');
}

/** What a data set holds, a line for each of its parts. */
export function statisticsLines({ statistics: held }: Pick<Verification, 'statistics'>): string[] {
  const { answersInEvidence: found } = held;
  const share = found.of === 0 ? '' : `; the answer stands in the evidence of ${found.items} of ${found.of}`;
  const lists: readonly (readonly [string, Readonly<Record<string, number>>])[] = [
    ['categories', held.categories],
    ['phrasing', held.phrasings],
    ['users by kind', held.userKinds],
  ];
  return [
    `users: ${held.users}, memories each ${spread(held.memoriesAUser)}, items each ${spread(held.itemsAUser)}`,
    `memories: ${held.memories}, characters ${spread(held.memoryCharacters)}, ${counted(held.preferences, 'preference')}, ${held.superseding} supersede an earlier one`,
    ...(held.questions === 0 ? [] : [`questions: ${held.questions}, without answers: for the suite retrieval alone`]),
    `items: ${held.items}, ${held.answerable} answerable, ${held.absent} absent, ${held.withHistory} with history`,
    `evidence: memories an answerable item ${spread(held.evidenceAnItem)}${share}`,
    ...lists.flatMap(([name, counts]) => (Object.keys(counts).length === 0 ? [] : [`${name}: ${tally(counts)}`])),
  ];
}

function findingLines({ severity, message, hint }: Finding, page: Page): string[] {
  const wrapped = (text: string, indent: string): string[] =>
    wrapText(printable(text), page.width - indent.length).map((line) => indent + line);
  const [first = '', ...rest] = wrapped(message, '         ');
  const colour = severity === 'error' ? 'red' : 'yellow';
  return [
    coloured(severity.padEnd(9), colour, page) + first.trimStart(),
    ...rest,
    ...wrapped(`→ ${hint}`, '         '),
  ];
}

/** What an examination found, for a terminal: what the data set holds, what is wrong with it, and how many times. */
export function renderVerification(verification: Verification, page: Page): string {
  const { file, name, language, sha256, findings, errors, warnings, partial } = verification;
  const about = [...(name === null ? [] : [name]), `language ${language}`, `sha256 ${sha256.slice(0, SHOWN_HASH)}`];
  const wrapped = (text: string): string[] => wrapText(printable(text), page.width);
  const more = findings.length - MOST_FINDINGS;
  return [
    ...wrapped(`${file}: ${about.join(', ')}`).map((line) => emphasised(line, page)),
    ...statisticsLines(verification).flatMap(wrapped),
    '',
    ...findings.slice(0, MOST_FINDINGS).flatMap((finding) => findingLines(finding, page)),
    ...(more > 0 ? [`… and ${more} more: --json lists all`] : []),
    ...(partial ? wrapped('Some lines cannot be read, so records were not compared with one another.') : []),
    `${counted(errors, 'error')}, ${counted(warnings, 'warning')}`,
    '',
  ].join('\n');
}
