import { html } from 'hono/html';
import type { RunResults } from '../../store/records/run-results.ts';
import { type Html, textList } from '../../render/html.ts';
import { printable } from '../../render/escape-control-characters.ts';
import { htmlTable } from '../../render/table-html.ts';
import { answerTable } from '../tables/answer-table.ts';
import { answersNothing, lackOfProof } from '../validity-caveats.ts';
import { headline, verdictSentences } from '../verdict-sentences.ts';

/** Keeps intervals and percentages on one line. */
const unbrokenNumbers = (text: string): string =>
  text.replaceAll(/ \[([^ \]]+), ([^ \]]+)\]/g, ' [$1,\u00a0$2]').replaceAll(' %', '\u00a0%');

/** The first answer of runs: sentences and a table of suite `main`, or of the first; all other sentences are folded. */
export function verdictSection(runs: readonly RunResults[]): Html {
  const several = runs.length > 1;
  const lead = runs.find(({ run }) => run.suite === 'main') ?? runs[0]!;
  const lacking = runs.flatMap((results) => {
    const lack = lackOfProof(results);
    return lack === undefined ? [] : [several ? `${results.run.suite}: ${lack}` : lack];
  });
  const heads = headline(lead);
  const said = (sentence: string): boolean =>
    heads.includes(sentence) || lacking.some((lack) => sentence.startsWith(lack));
  const all = verdictSentences(lead);
  const [others, scope] = [all.slice(0, -1).filter((sentence) => !said(sentence)), all.slice(-1)];
  const decided = runs.flatMap(({ checks }) => checks.filter(({ status }) => status !== 'undecided')).length;
  const table = answersNothing(lead) === undefined ? answerTable(lead) : undefined;
  return html`<section
    id="verdict"
    class="verdict ${lacking.length > 0 ? 'failed' : ''}"
    aria-labelledby="verdict-heading"
  >
    <h2 id="verdict-heading">Verdict</h2>
    ${lacking.map((lack) => html`<p class="failed"><strong>${printable(lack)}. Do not quote these numbers.</strong></p>`)}
    ${heads.map((sentence) => html`<p class="headline">${unbrokenNumbers(printable(sentence))}</p>`)}
    ${table === undefined ? '' : htmlTable(table, 'verdict')}
    ${
      several || others.length === 0
        ? ''
        : html`<details ${heads.length === 0 ? html`open` : ''}>
            <summary>The verdict in full</summary>
            ${textList(others)}
          </details>`
    }
    ${scope.map((sentence) => html`<p class="note">${printable(sentence)}</p>`)}
    ${lacking.length > 0 ? '' : html`<p class="passed">All ${decided} checks that could be decided passed.</p>`}
  </section> `;
}
