import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import type { Links } from '../links.ts';
import { refOf, type TurnModel } from './read-turn.ts';
import { type SegmentDifference, sequenceDifference } from './sequence-difference.ts';
import { cutForPage, cutMark, leftOut } from './shown-text.ts';
import type { TokenSpan } from './token-spans.ts';

const MOST_SEGMENTS = 60;
const MOST_BYTES = 250;

function spansText(spans: readonly TokenSpan[]): Html {
  const { text, left } = cutForPage(spans.map((span) => span.text).join(''), MOST_BYTES);
  return html`${printable(text)}${cutMark(left)}`;
}

/** The end or the beginning of a text that both have, long enough to find the place. */
const around = (text: string, end: boolean): string => {
  const characters = [...text.slice(end ? -80 : 0, end ? undefined : 80)];
  if (characters.length <= 30) return printable(text);
  return end ? `…${printable(characters.slice(-30).join(''))}` : `${printable(characters.slice(0, 30).join(''))}…`;
};

const textOf = (spans: readonly TokenSpan[]): string => spans.map((span) => span.text).join('');
const originWords = { evaluated: 'as text', injected: 'as K/V' } as const;

function segmentItem(difference: SegmentDifference, here: string, there: string): Html {
  const name = html`<strong>${printable(difference.label)}</strong>`;
  switch (difference.kind) {
    case 'same': {
      const { moved, origins, tokens } = difference;
      const notes = [
        ...(moved === undefined ? [] : [`position ${moved.here} here, ${moved.there} there`]),
        ...(origins === undefined ? [] : [`${originWords[origins.here]} here, ${originWords[origins.there]} there`]),
      ];
      return html`<li class="same">
        = ${name} same,
        ${tokens === 1 ? '1 token' : `${tokens} tokens`}${notes.length === 0 ? '' : `; ${notes.join('; ')}`}
      </li> `;
    }
    case 'only-here':
      return html`<li>
        + ${name} only in ${printable(here)}: <ins class="text">${spansText(difference.spans)}</ins>
      </li> `;
    case 'only-there':
      return html`<li>
        − ${name} only in ${printable(there)}: <del class="text">${spansText(difference.spans)}</del>
      </li> `;
    case 'changed': {
      const { before, here: own, there: other, after } = difference;
      return html`<li>
        ± ${name}
        <span class="text"
          >${around(textOf(before), true)}<del>${spansText(other)}</del
          ><ins>${spansText(own)}</ins>${around(textOf(after), false)}</span
        >
      </li> `;
    }
  }
}

/** Section on the difference to the sequence of another arm, with links to all others; an export holds one difference. */
export function differencePart({ run, turn, against, siblings, pieces }: TurnModel, links: Links): Html | string {
  if (!links.answered && against === undefined) return '';
  const others = siblings.filter(
    (one) => one.arm !== turn.arm && one.repeat === turn.repeat && one.turn === turn.turn && one.state === 'answered',
  );
  const ref = refOf(run, turn);
  return html`<section aria-labelledby="difference">
    <h2 id="difference">Difference${against === undefined ? '' : ` to ${printable(against.arm)}`}</h2>
    ${against === undefined ? '' : html`<p><a href="${links.pair(ref, against.arm)}">Side by side with ${printable(against.arm)}</a></p>`}
    ${
      others.length === 0
        ? html`<p class="soft">No other arm answered this item.</p>`
        : !links.answered
          ? ''
          : html`<nav aria-label="Compare the sequence with another arm">
              <ul>
                ${others.map(
                  ({ arm }) =>
                    html`<li>
                      ${arm === against?.arm ? html`<strong aria-current="true">${printable(arm)}</strong>` : html`<a href="${links.turn(ref, { against: arm })}#difference">${printable(arm)}</a>`}
                    </li> `,
                )}
              </ul>
            </nav>`
    }
    ${against === undefined || turn.state === 'failed' ? '' : compared(turn, against, pieces)}
  </section>`;
}

function compared(
  turn: Extract<TurnModel['turn'], { state: 'answered' }>,
  against: NonNullable<TurnModel['against']>,
  pieces: TurnModel['pieces'],
): Html {
  const difference = sequenceDifference(turn, against, pieces);
  return html`<p>${differenceInWords(difference, against.arm)}</p>
    <ul class="difference">
      ${difference.segments.slice(0, MOST_SEGMENTS).map((one) => segmentItem(one, turn.arm, against.arm))}
    </ul>
    ${leftOut(MOST_SEGMENTS, difference.segments.length, 'segments')}`;
}

/** `the same 103 tokens at the same positions` */
function differenceInWords(
  { sameTokens, onlyHere, onlyThere, movedTokens }: ReturnType<typeof sequenceDifference>,
  there: string,
): string {
  const moved = movedTokens === 0 ? 'at the same positions' : `${movedTokens} of them at other positions`;
  if (onlyHere === 0 && onlyThere === 0) return `The same ${sameTokens} tokens, ${moved}.`;
  return `${sameTokens} tokens are the same, ${moved}; ${onlyHere} only here, ${onlyThere} only in ${printable(there)}.`;
}
