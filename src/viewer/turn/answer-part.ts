import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { judgementOf, kindsOfItem, scoresInWords, thoughtInWords } from './answer-in-words.ts';
import { funnelNote, funnelOf } from './funnel.ts';
import { shownText } from './shown-text.ts';

const MOST = 2000;
const marks = { passed: '✓', failed: '✗', unknown: '·' } as const;
const stateWords = { passed: 'passed', failed: 'failed here', unknown: 'not reached' } as const;

/** Section on question, answer, gold and evidence funnel. */
export function answerPart(turn: AnsweredTurn): Html {
  const { answer, item, prompt, scores, unknownQuality } = turn;
  const look = unknownQuality !== null ? 'soft' : scores.taskSuccess === 1 ? 'good' : 'bad';
  const mark = unknownQuality !== null ? '' : scores.taskSuccess === 1 ? '✓ ' : '✗ ';
  const kinds = kindsOfItem(item);
  const inWords = scoresInWords(turn);
  return html`<section aria-labelledby="answer">
    <h2 id="answer">Answer</h2>
    <dl class="pairs">
      <dt>question</dt>
      <dd>${shownText(prompt.originalQuery, MOST)}</dd>
      <dt>answer</dt>
      <dd class="answer">
        ${givenPrefix(answer)}${answer.text === '' ? html`<span class="soft">(empty)</span>` : shownText(answer.text, MOST)}
        ${thoughtNote(answer)}
      </dd>
      <dt>gold</dt>
      <dd>
        ${item.gold === null ? html`<span class="soft">none: abstaining is right</span>` : shownText(item.gold, MOST)}
      </dd>
      <dt>verdict</dt>
      <dd><strong class="${look}">${mark}${printable(judgementOf(turn))}</strong></dd>
      ${
        inWords === ''
          ? ''
          : html`<dt>scores</dt>
              <dd>${inWords}</dd>`
      }
      ${
        kinds === ''
          ? ''
          : html`<dt>kind</dt>
              <dd>${printable(kinds)}</dd>`
      }
    </dl>
    ${funnel(turn)}
  </section>`;
}

/** The text that the model was given to begin its answer with: no word of its own. */
function givenPrefix({ prefix }: AnsweredTurn['answer']): Html | string {
  return prefix === undefined
    ? ''
    : html`<span class="soft" title="given to the model">${shownText(prefix, MOST)}</span>`;
}

function thoughtNote(answer: AnsweredTurn['answer']): Html | string {
  const words = thoughtInWords(answer);
  return words === undefined ? '' : html`<small class="soft">${words}</small>`;
}

function funnel(turn: AnsweredTurn): Html {
  const steps = funnelOf(turn);
  const note = funnelNote(turn);
  return html`<h3 id="funnel">Evidence funnel</h3>
    ${note === undefined ? '' : html`<p class="soft">${note}</p>`}
    ${
      steps === undefined
        ? ''
        : html`<ol class="funnel" aria-labelledby="funnel">
            ${steps.map(
              ({ words, state }) =>
                html`<li class="${state}">
                  <span aria-hidden="true">${marks[state]}</span> ${words} <small>${stateWords[state]}</small>
                </li> `,
            )}
          </ol>`
    }`;
}
