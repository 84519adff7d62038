import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';

/** Content of a cell. */
type CellContent = Html | string | number;

/** A row of a table of two arms: its name, what each has, and a mark where they differ. */
export function pairRow(name: CellContent, a: CellContent, b: CellContent, differs: boolean, look = ''): Html {
  return html`<tr class="${differs ? 'differs' : ''}">
    <th scope="row">${name}</th>
    <td class="mark-of">
      ${differs ? html`<b title="they differ">≠</b>` : html`<span class="soft" title="the same">=</span>`}
    </td>
    <td class="${look}">${a}</td>
    <td class="${look}">${b}</td>
  </tr> `;
}

/** A table of two arms, in a box that scrolls on a narrow page. */
export function pairTable(label: string, [a, b]: readonly [string, string], rows: readonly Html[], look = ''): Html {
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">
    <table class="plain pair ${look}">
      <thead>
        <tr>
          <th scope="col"><span class="unseen">what</span></th>
          <th scope="col"><span class="unseen">difference</span></th>
          <th scope="col">A: ${a}</th>
          <th scope="col">B: ${b}</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}
