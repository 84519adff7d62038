import { html } from 'hono/html';
import type { Html } from '../../report/html/html-table.ts';
import { printable } from '../../report/render/printable.ts';
import { formatNumber } from '../../report/table.ts';
import { kindsOfItem } from '../kinds-of-item.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { funnelNote, funnelOf } from './funnel.ts';
import { judgementOf } from './judgement.ts';
import { shownText } from './shown-text.ts';

const MOST = 2000;
const marks = { passed: '✓', failed: '✗', unknown: '·' } as const;
const stateWords = { passed: 'passed', failed: 'failed here', unknown: 'not reached' } as const;

/** The names of the scores as tables call them. */
const scoreNames = {
  exactMatch: 'exact match',
  tokenF1: 'token F1',
  memoryRecall: 'memory recall',
  rougeL: 'ROUGE-L',
  bleu: 'BLEU',
  abstention: 'abstention',
} as const;

/** The scores of an answer that are known, in words: `exact match 1 · token F1 0.67`. */
export function scoresInWords({ scores }: AnsweredTurn): string {
  return Object.entries(scoreNames)
    .flatMap(([key, name]) => {
      const value = scores[key as keyof typeof scoreNames];
      return value === null || value === undefined ? [] : [`${name} ${formatNumber(value, value % 1 === 0 ? 0 : 2)}`];
    })
    .join(' · ');
}

/** Question, answer and gold, and how far the evidence came. */
export function answerPart(turn: AnsweredTurn): Html {
  const { answer, promptInfo, scores, unknownQuality } = turn;
  const look = unknownQuality !== null ? 'soft' : scores.taskSuccess === 1 ? 'good' : 'bad';
  const mark = unknownQuality !== null ? '' : scores.taskSuccess === 1 ? '✓ ' : '✗ ';
  const kinds = kindsOfItem(scores.item);
  const inWords = scoresInWords(turn);
  return html`<section aria-labelledby="answer">
    <h2 id="answer">Answer</h2>
    <dl class="pairs">
      <dt>question</dt>
      <dd>${shownText(promptInfo.originalQuery, MOST)}</dd>
      <dt>answer</dt>
      <dd class="answer">${answer === '' ? html`<span class="soft">(empty)</span>` : shownText(answer, MOST)}</dd>
      <dt>gold</dt>
      <dd>
        ${scores.item.gold === null ? html`<span class="soft">none: abstaining is right</span>` : shownText(scores.item.gold, MOST)}
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

function funnel(turn: AnsweredTurn): Html {
  const steps = funnelOf(turn);
  const note = steps === undefined ? 'No evidence to follow: abstaining is right.' : funnelNote(turn);
  return html`<h3 id="funnel">The way of the evidence</h3>
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
