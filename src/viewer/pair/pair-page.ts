import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import { formatNumber } from '../../render/table.ts';
import { hiddenNote } from '../hidden-texts.ts';
import type { Links } from '../links.ts';
import { select } from '../run/turn-filters.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { judgementOf, scoresInWords } from '../turn/answer-in-words.ts';
import { refOf } from '../turn/read-turn.ts';
import { shownText } from '../turn/shown-text.ts';
import { cacheInWords } from '../turn/timings-part.ts';
import { kvPair } from './kv-pair.ts';
import { pairRow, pairTable } from './pair-row.ts';
import { probabilityPair } from './probability-pair.ts';
import { promptPair } from './prompt-pair.ts';
import type { PairModel } from './read-pair.ts';

const MOST_BYTES = 1200;

function verdict(turn: AnsweredTurn): Html {
  const { scores, unknownQuality } = turn;
  const look = unknownQuality !== null ? 'soft' : scores.taskSuccess === 1 ? 'good' : 'bad';
  const mark = unknownQuality !== null ? '' : scores.taskSuccess === 1 ? '✓ ' : '✗ ';
  return html`<span class="${look}">${mark}${printable(judgementOf(turn))}</span>`;
}

/** Section with both answers: verdict, scores and cost. */
function answerPair({ a, b }: PairModel): Html {
  const row = (name: string, of: (turn: AnsweredTurn) => string | number): Html =>
    pairRow(name, of(a), of(b), of(a) !== of(b));
  const answers = pairRow(
    'answer',
    html`<b class="answer">${shownText(a.answer.text, MOST_BYTES)}</b>`,
    html`<b class="answer">${shownText(b.answer.text, MOST_BYTES)}</b>`,
    a.answer.text !== b.answer.text,
  );
  const verdicts = pairRow('verdict', verdict(a), verdict(b), judgementOf(a) !== judgementOf(b));
  const rows = [
    answers,
    verdicts,
    row('scores', scoresInWords),
    row('cache', cacheInWords),
    row('prompt, tokens', ({ tokens }) => tokens.prompt),
    row('K/V resident, cells', ({ tokens }) => tokens.kvResident),
    row('evaluated, tokens', ({ tokens }) => tokens.evaluated),
    row('first token, ms', ({ timings }) => formatNumber(timings.firstToken, 1)),
    row('whole turn, ms', ({ timings }) => formatNumber(timings.total, 1)),
  ];
  return html`<section aria-labelledby="answers">
    <h2 id="answers">Answers</h2>
    ${pairTable('Answers', [printable(a.arm), printable(b.arm)], rows, 'texts')}
  </section>`;
}

function chooser({ run, a, b, arms }: PairModel): Html {
  const each = arms.map((arm): readonly [string, string] => [arm, arm]);
  const hidden = { run: run.name, item: a.itemId, repeat: a.repeat, turn: a.turn };
  return html`<form class="filters" method="get" action="/pair">
    ${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${select('arm', 'A', a.arm, each)} ${select('other', 'B', b.arm, each)}
    <button>Show</button>
  </form>`;
}

/** The page of two arms on one item, side by side: answers, prompts, K/V, probabilities, what differs marked. */
export function pairPage(model: PairModel, links: Links): Html {
  const { run, a, b } = model;
  const { gold, query } = { gold: a.item.gold, query: a.prompt.originalQuery };
  return html`<h1>${printable(a.arm)} <span class="soft">beside</span> ${printable(b.arm)}</h1>
    <p class="lead">
      Run ${printable(run.name)} · <a href="${links.item(run.name, a.itemId)}">item ${printable(a.itemId)}</a> · A:
      <a href="${links.turn(refOf(run, a))}">${printable(a.arm)}</a> · B:
      <a href="${links.turn(refOf(run, b))}">${printable(b.arm)}</a>
      ${links.answered ? html`· <a href="${links.pair(refOf(run, b), a.arm)}">swap A and B</a>` : ''}
    </p>
    ${hiddenNote(run.hiddenTexts)} ${links.answered ? chooser(model) : ''}
    <dl class="pairs">
      <dt>question</dt>
      <dd>${shownText(query, MOST_BYTES)}</dd>
      <dt>gold</dt>
      <dd>
        ${gold === null ? html`<span class="soft">none: abstaining is right</span>` : shownText(gold, MOST_BYTES)}
      </dd>
    </dl>
    <p class="note">≠ marks what differs; in prompts the tokens that one of them alone has are highlighted.</p>
    ${answerPair(model)} ${promptPair(model)} ${kvPair(model)} ${probabilityPair(model)}`;
}
