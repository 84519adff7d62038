import { present } from '../base/present.ts';
import type { Spread, Verification } from '../data/verify/verify-dataset.ts';
import { DEFAULT_TOP_K } from '../config/bench-config.ts';
import { printable } from '../render/escape-control-characters.ts';
import { coloured, emphasised, hangingText, type Terminal, wrapText } from '../render/terminal-text.ts';
import { formatNumber, countText } from '../render/format-number.ts';
import type { Finding } from '../data/verify/verify-dataset.ts';

const MAX_FINDINGS = 50;
const SHOWN_HASH = 12;

function spread({ least, median, most }: Spread): string {
  return least === most
    ? String(least)
    : `${least} to ${most} (median ${formatNumber(median, median % 1 === 0 ? 0 : 1)})`;
}

export function statisticsLines({ statistics: counts }: Pick<Verification, 'statistics'>): string[] {
  const { answersInEvidence: found } = counts;
  const share = found.of === 0 ? '' : `; the evidence contains the answer of ${found.items} of ${found.of} items`;
  const isAllRetrieved = counts.memories > 0 && counts.memoriesAUser.most <= DEFAULT_TOP_K;
  const retrieval = isAllRetrieved ? '; retrieval returns all memories of each user: add more, or lower --top-k' : '';
  const lists = { categories: counts.categories, phrasing: counts.phrasings, 'users by kind': counts.userKinds };
  return present([
    `users: ${counts.users}, memories each ${spread(counts.memoriesAUser)}, items each ${spread(counts.itemsAUser)}${retrieval}`,
    `memories: ${counts.memories}, characters ${spread(counts.memoryCharacters)}, ${countText(counts.preferences, 'preference')}, ${counts.superseding} supersede an earlier one`,
    counts.questions > 0 && `questions: ${counts.questions}, without answers, used only by suite retrieval`,
    `items: ${counts.items}, ${counts.answerable} answerable, ${counts.absent} absent, ${counts.withHistory} with history`,
    `evidence: memories an answerable item ${spread(counts.evidenceAnItem)}${share}`,
    ...Object.entries(lists).map(([name, tally]) => {
      const parts = Object.entries(tally).map(([label, count]) => `${label} ${count}`);
      return parts.length > 0 && `${name}: ${parts.join(', ')}`;
    }),
  ]);
}

function findingLines({ severity, message, hint }: Finding, page: Terminal): string[] {
  const head = coloured(severity.padEnd(9), severity === 'error' ? 'red' : 'yellow', page);
  return [
    ...hangingText(head, printable(message), page.width),
    ...hangingText(' '.repeat(9), printable(`→ ${hint}`), page.width),
  ];
}

/** Reports a problem that many lines or elements share once, at the first of them. */
function problemsOf({ file, findings }: Verification): Finding[] {
  const problem = ({ severity, message, hint }: Finding): string =>
    JSON.stringify([severity, message.slice(file.length).replace(/^: ?\[?\d+\]?/u, ''), hint]);
  return [...Map.groupBy(findings, problem).values()].map((group) => {
    const [first, last] = [group[0]!, group.at(-1)!.line];
    if (group.length === 1) return first;
    if (last === null) return { ...first, message: `${first.message} (and ${group.length - 1} more)` };
    const where = group.length === 2 ? `in line ${last} too` : `in ${group.length - 1} more lines, up to line ${last}`;
    return { ...first, message: `${first.message} (${where})` };
  });
}

export function renderVerification(verification: Verification, page: Terminal): string {
  const { file, name, language, sha256, errors, warnings, partial } = verification;
  const about = present([name ?? false, `language ${language}`, `sha256 ${sha256.slice(0, SHOWN_HASH)}`]);
  const wrapped = (text: string): string[] => wrapText(printable(text), page.width);
  const problems = problemsOf(verification);
  const more = problems.length - MAX_FINDINGS;
  return [
    ...wrapped(`${file}: ${about.join(', ')}`).map((line) => emphasised(line, page)),
    ...statisticsLines(verification).flatMap(wrapped),
    '',
    ...problems.slice(0, MAX_FINDINGS).flatMap((finding) => findingLines(finding, page)),
    ...(more > 0 ? [`… and ${more} more: --json lists all`] : []),
    ...(partial ? wrapped('Some lines cannot be read, so checks across records were skipped.') : []),
    `${countText(errors, 'error')}, ${countText(warnings, 'warning')}`,
    '',
  ].join('\n');
}
