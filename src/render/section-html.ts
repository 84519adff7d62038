import { html, raw } from 'hono/html';
import { cutForPage, cutRemark } from './cut-text.ts';
import type { Html } from './html.ts';
import { printable } from './escape-control-characters.ts';
import { groupedNumber } from './format-number.ts';
import {
  type BarPart,
  type Content,
  type Look,
  type Phrase,
  phrases,
  type Section,
  type SectionBlock,
  type SectionCell,
  type SectionSegment,
  type SectionTable,
  stepMarks,
} from './section.ts';

/** Limits of a sequence that keep its page small. */
const MAX_SEGMENTS = 150;
const MAX_SEQUENCE_BYTES = 45_000;
const MAX_TOKENS = 2000;

const BAR_UNITS = 1000;
const stepWords = { passed: 'passed', failed: 'failed here', unknown: 'not reached' } as const;

export function sectionHtml({ id, heading, blocks }: Section): Html {
  return html`<section class="${id}-section" aria-labelledby="${id}">
    <h2 id="${id}">${printable(heading)}</h2>
    ${blocks.map((block) => blockHtml(block))}
  </section>`;
}

/** Renders content as HTML: escapes texts, cuts those with a limit, and makes control characters visible. */
const contentHtml = (content: Content): Html => html`${phrases(content).map(phraseHtml)}`;

const elements: Readonly<Partial<Record<Look, string>>> = {
  strong: 'strong',
  code: 'code',
  inserted: 'ins',
  deleted: 'del',
  marked: 'mark',
};

function phraseHtml({ text, look, title, most }: Phrase): Html {
  const inner = most === undefined ? html`${printable(text)}` : longText(text, most);
  if (look === undefined) return inner;
  const element = elements[look];
  const pointed = title === undefined ? '' : html`title="${printable(title)}"`;
  if (element === undefined) return html`<span class="${look}" ${pointed}>${inner}</span>`;
  return html`${raw(`<${element}`)} ${pointed}>${inner}${raw(`</${element}>`)}`;
}

/** A text, cut to `mostBytes` bytes of HTML. */
export function longText(text: string, mostBytes: number): Html {
  const { text: shown, left } = cutForPage(text, mostBytes);
  return html`<span class="text">${printable(shown)}</span>${cutMark(left)}`;
}

const cutMark = (left: number): Html | string =>
  left === 0 ? '' : html`<span class="left"> ${cutRemark(left)}</span>`;

/** Says below a shortened list how many entries are missing; empty if none is. */
export function leftOut(shown: number, all: number, what: string): Html | string {
  if (shown >= all) return '';
  return html`<p class="note">… ${groupedNumber(all - shown)} more ${what}, all in the raw JSON.</p>`;
}

function blockHtml(block: SectionBlock): Html {
  switch (block.kind) {
    case 'heading':
      return html`<h3 id="${block.id}">${printable(block.text)}</h3>`;
    case 'text':
      return html`<p class="${block.look ?? ''}">${contentHtml(block.content)}</p>`;
    case 'note':
      return html`<p class="note">${contentHtml(block.content)}</p>`;
    case 'pairs':
      return pairsHtml(block.rows);
    case 'list':
      return html`<ul class="items">
          ${block.items.slice(0, block.most).map((item) => html`<li>${contentHtml(item)}</li> `)}
        </ul>
        ${leftOut(block.most, block.items.length, block.what)}`;
    case 'steps':
      return html`<ol class="funnel">
        ${block.steps.map(
          ({ name, state }) =>
            html`<li class="${state}">
              <span aria-hidden="true">${stepMarks[state]}</span> ${name} <small>${stepWords[state]}</small>
            </li> `,
        )}
      </ol>`;
    case 'shares': {
      const { parts } = block;
      const total = parts.reduce((sum, { weight }) => sum + weight, 0);
      let end = 0;
      const bar = parts.map(({ look, weight }) => {
        const share = total === 0 ? 0 : weight / total;
        end += share;
        return { look, start: end - share, share };
      });
      return html`${barHtml(bar)}
        <ul class="legend">
          ${parts.map(({ name, look, weight }) => html`<li><span class="swatch ${look}"></span>${name} ${weight}</li> `)}
        </ul>`;
    }
    case 'segments':
      return segmentsHtml(block.segments, block.hasSpans);
    case 'details':
      return html`<details>
        <summary>${printable(block.summary)}</summary>
        <pre>${longText(block.text, block.most)}</pre>
      </details>`;
    case 'table':
      return tableHtml(block);
  }
}

export function pairsHtml(rows: readonly (readonly [name: string, content: Content])[]): Html {
  return html`<dl class="pairs">
    ${rows.map(
      ([name, content]) =>
        html`<dt>${printable(name)}</dt>
          <dd>${contentHtml(content)}</dd> `,
    )}
  </dl>`;
}

/** A bar as SVG, hidden from screen readers because its numbers stand beside it as text. */
function barHtml(parts: readonly BarPart[]): Html {
  const units = (share: number): string =>
    (Math.round(Math.min(1, Math.max(0, share)) * BAR_UNITS * 10) / 10).toString();
  return html`<svg class="bar" viewBox="0 0 ${BAR_UNITS} 10" preserveAspectRatio="none" aria-hidden="true">
    ${parts.map(
      ({ look, start, share }) =>
        html`<rect class="${look}" x="${units(start)}" y="0" width="${units(share)}" height="10" />`,
    )}
  </svg>`;
}

/** A table in a box that scrolls on a narrow page. */
export function scrolledTable(label: string, look: string, headings: readonly Html[], rows: readonly Html[]): Html {
  return html`<div class="scroll" role="region" aria-label="${printable(label)}" tabindex="0">
    <table class="${look}">
      <thead>
        <tr>
          ${headings}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

function tableHtml({ what, rowHeading, columns, rows, most = rows.length }: SectionTable): Html {
  const headings = [{ heading: rowHeading, kind: 'text' }, ...columns].map(({ heading, kind }) => {
    const look = kind === 'number' ? 'right' : '';
    return html`<th scope="col" class="${look}" colspan="${kind === 'bar' ? 2 : 1}">${printable(heading)}</th>`;
  });
  const cell = ({ content, bar }: SectionCell, column: number): Html => {
    const { kind } = columns[column]!;
    const look = kind === 'wrap' ? 'wide' : kind === 'text' ? '' : 'right';
    return html`<td class="${look}">${contentHtml(content)}</td>
      ${kind === 'bar' ? html`<td class="bars">${bar === undefined ? '' : barHtml(bar)}</td>` : ''}`;
  };
  const body = rows.slice(0, most).map(
    ({ label, cells, look }) =>
      html`<tr class="${look ?? ''}">
        <th scope="row">${contentHtml(label)}</th>
        ${cells.map(cell)}
      </tr> `,
  );
  return html`${scrolledTable(`Table of the ${what}`, `plain ${what.replaceAll(' ', '-')}-table`, headings, body)}
  ${leftOut(most, rows.length, what)}`;
}

function segmentsHtml(segments: readonly SectionSegment[], hasSpans: boolean): Html {
  let [bytesLeft, tokensLeft, isPlain] = [MAX_SEQUENCE_BYTES, MAX_TOKENS, false];
  const text = (segment: SectionSegment): Html => {
    const cut = cutForPage(segment.text, bytesLeft);
    bytesLeft = cut.left > 0 ? 0 : bytesLeft - Buffer.byteLength(cut.text);
    tokensLeft = cut.left > 0 ? 0 : tokensLeft - segment.tokens;
    if (hasSpans && cut.left === 0 && tokensLeft >= 0) {
      const spans = segment.spans();
      return html`${spans.map((span) => html`<i>${printable(span.text)}<sub>${span.ids.join(' ')}</sub></i>`)}`;
    }
    isPlain ||= hasSpans && cut.left === 0;
    return html`${printable(cut.text)}${cutMark(cut.left)}`;
  };
  const items = segments.slice(0, MAX_SEGMENTS).map((segment) => {
    const { name, kind, injected, place } = segment;
    return html`<li class="${kind} ${injected ? 'injected' : 'evaluated'}">
      <p class="name"><strong>${printable(name)}</strong> ${place} · ${injected ? 'KV injected' : 'evaluated'}</p>
      <p class="text">${text(segment)}</p>
    </li> `;
  });
  const kinds = (['system', 'memory', 'history', 'query'] as const).filter((kind) =>
    segments.some((segment) => segment.kind === kind),
  );
  return html`<ul class="legend">
      ${kinds.map((kind) => html`<li><span class="swatch ${kind}"></span>${kind === 'memory' ? 'memories' : kind}</li> `)}
      ${segments.some(({ injected }) => injected) ? html`<li><span class="swatch injected"></span>double edge: KV injected</li>` : ''}
    </ul>
    ${
      hasSpans
        ? html`<input type="checkbox" id="show-tokens" class="show-tokens" /><label for="show-tokens"
              >Show token boundaries and ids</label
            >`
        : html`<p class="soft">Token boundaries were not recorded in this run, or are hidden with its texts.</p>`
    }
    <ol class="sequence">
      ${items}
    </ol>
    ${leftOut(MAX_SEGMENTS, segments.length, 'segments')}
    ${isPlain ? html`<p class="note">Only the first segments show token boundaries; all ids are in the raw JSON.</p>` : ''}`;
}
