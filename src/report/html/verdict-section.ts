import { html } from 'hono/html';
import type { RunResults } from '../../store/records/run-results.ts';
import { headline } from '../headline.ts';
import { type Html, textList } from '../../render/html.ts';
import { printable } from '../../render/escape-control-characters.ts';
import { lackOfProof } from '../validity-caveats.ts';
import { verdictSentences } from '../verdict-sentences.ts';

export function verdictSection(runs: readonly RunResults[]): Html {
  const several = runs.length > 1;
  const lacking = runs.flatMap((results) => {
    const lack = lackOfProof(results);
    return lack === undefined ? [] : [several ? `${results.run.suite}: ${lack}` : lack];
  });
  const heads = headline(runs);
  const said = (sentence: string): boolean =>
    heads.includes(sentence) || lacking.some((lack) => sentence.startsWith(lack));
  const sentences = several
    ? verdictSentences(runs[0]!).slice(-1)
    : verdictSentences(runs[0]!).filter((sentence) => !said(sentence));
  const decided = runs.flatMap(({ checks }) => checks.filter(({ status }) => status !== 'undecided')).length;
  return html`<section
    id="verdict"
    class="verdict ${lacking.length > 0 ? 'failed' : ''}"
    aria-labelledby="verdict-heading"
  >
    <h2 id="verdict-heading">Verdict</h2>
    ${lacking.map((lack) => html`<p class="failed"><strong>${printable(lack)}. Do not quote these numbers.</strong></p>`)}
    ${heads.map((sentence) => html`<p class="headline">${printable(sentence)}</p>`)} ${textList(sentences)}
    ${lacking.length > 0 ? '' : html`<p class="passed">All ${decided} checks that could be decided passed.</p>`}
  </section> `;
}
