import { printable } from '../../render/printable.ts';
import type { Page } from '../../render/terminal.ts';
import { padText, textWidth, wrapText } from '../../render/text-width.ts';
import { formatNumber } from '../../render/table.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { agreementInWords, probabilityInWords } from '../turn/model-part.ts';
import { nextTokens } from '../turn/next-tokens.ts';
import { barOf, type Section, shortened } from './section.ts';

const tokenColumns = 16;
const quoted = (token: string): string => `"${printable(token)}"`;

/** Section on the likeliest next tokens, beside those of RAG. */
export function nextSection(turn: AnsweredTurn, rag: AnsweredTurn | undefined, { width }: Page): Section {
  const { observed } = turn;
  const barColumns = Math.max(4, Math.min(20, Math.floor((width - tokenColumns - 24) / 2)));
  const cell = (value: number | undefined): string =>
    `${probabilityInWords(value).padStart(6)} ${padText(value === undefined || value < 0.5 / barColumns ? '' : barOf(0, value, barColumns), barColumns)}`;
  const heading = (arm: string): string => padText(shortened(printable(arm), barColumns + 7), barColumns + 7);
  const agreement = agreementInWords(observed.agreement);
  return {
    heading: 'Next token, p',
    lines: [
      ...(agreement === undefined ? [] : wrapText(agreement, width)),
      [padText('', tokenColumns), heading(turn.arm), ...(rag === undefined ? [] : [heading(rag.arm)])].join('  '),
      ...nextTokens(observed.nextTokens, rag?.observed.nextTokens ?? []).map(({ token, here, there }) =>
        [
          padText(shortened(quoted(token), tokenColumns), tokenColumns),
          cell(here),
          ...(rag === undefined ? [] : [cell(there)]),
        ].join('  '),
      ),
    ],
  };
}

/** Section on the probability of the gold answer, token by token. */
export function goldSection({ observed }: AnsweredTurn, { width }: Page): Section {
  const { goldLogProbability, goldTokens } = observed;
  if (goldLogProbability === null) return { heading: 'The gold answer', lines: ['not judged'] };
  const terms = goldTokens.map(({ token, logProbability }) => `${quoted(token)} ${formatNumber(logProbability, 3)}`);
  return {
    heading: `The gold answer, ln p ${formatNumber(goldLogProbability, 3)}`,
    lines: filled(terms, width),
  };
}

/** Fills lines with terms two spaces apart, none of them broken. */
function filled(terms: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const term of terms.map((one) => shortened(one, width))) {
    const longer = `${lines.at(-1) ?? ''}  ${term}`;
    if (lines.length > 0 && textWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(term);
  }
  return lines;
}
