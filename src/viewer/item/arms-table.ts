import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { formatNumber } from '../../render/table.ts';

/** Rows that a page shows. */
const MOST_TURNS = 80;

/** A column of the table of an item's arms. */
export interface ArmColumn<Turn> {
  readonly heading: string;
  /** `cut`: long texts, broken into lines; `right`: numbers. */
  readonly look?: 'cut' | 'right';
  readonly cell: (turn: Turn) => Html | string;
}

/** The place of a turn among those of its arm. */
interface Place {
  readonly repeat: number;
  readonly turn: number;
}

/** The turns of an item, a row each. */
export interface ArmsTable<Turn extends Place> {
  readonly turns: readonly Turn[];
  /** The heading of a row: the arm. */
  readonly name: (turn: Turn) => Html | string;
  readonly columns: readonly ArmColumn<Turn>[];
  /** The reason why a turn has no cells; undefined where it has. */
  readonly failure?: (turn: Turn) => Html | undefined;
  /** Of turns beyond those that are shown. */
  readonly elsewhere?: string;
}

/** A column of whole numbers. */
export const countColumn = <Turn>(heading: string, of: (turn: Turn) => number | null): ArmColumn<Turn> => ({
  heading,
  look: 'right',
  cell: (turn) => String(of(turn) ?? '–'),
});

/** A column of milliseconds. */
export const timeColumn = <Turn>(heading: string, of: (turn: Turn) => number | null): ArmColumn<Turn> => ({
  heading: `${heading}, ms`,
  look: 'right',
  cell: (turn) => {
    const ms = of(turn);
    return ms === null ? '–' : formatNumber(ms, 1);
  },
});

/** The table of an item's arms; repeats and turns of a conversation are numbered where there are several. */
export function armsTable<Turn extends Place>({
  turns,
  name,
  columns,
  failure,
  elsewhere = '',
}: ArmsTable<Turn>): Html {
  const placeOf = ({ repeat, turn }: Turn): string => `${repeat} / ${turn}`;
  const several = new Set(turns.map(placeOf)).size > 1;
  const cells = (turn: Turn): Html | Html[] => {
    const failed = failure?.(turn);
    return failed === undefined
      ? columns.map(({ look, cell }) => html`<td class="${look ?? ''}">${cell(turn)}</td>`)
      : html`<td class="cut bad" colspan="${columns.length}">${failed}</td>`;
  };
  return html`<div class="scroll" role="region" aria-label="Table of the arms" tabindex="0">
      <table class="list arms">
        <thead>
          <tr>
            <th scope="col">arm</th>
            ${several ? html`<th scope="col">repeat / turn</th>` : ''}
            ${columns.map(({ heading, look }) => html`<th scope="col" class="${look === 'right' ? 'right' : ''}">${heading}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${turns.slice(0, MOST_TURNS).map(
            (turn) =>
              html`<tr>
                <th scope="row">${name(turn)}</th>
                ${several ? html`<td>${placeOf(turn)}</td>` : ''} ${cells(turn)}
              </tr> `,
          )}
        </tbody>
      </table>
    </div>
    ${turns.length <= MOST_TURNS ? '' : html`<p class="note">… ${turns.length - MOST_TURNS} more turns${elsewhere}.</p>`}`;
}
