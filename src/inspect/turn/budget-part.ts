import { html } from 'hono/html';
import type { Html } from '../../report/html/html-table.ts';
import { printable } from '../../report/render/printable.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { bar, stacked } from './bar.ts';
import { budgetParts } from './budget-parts.ts';
import { droppedRule } from './dropped-rules.ts';
import { leftOut } from './shown-text.ts';

const MOST_DROPPED = 40;

/** How the window was spent, and what was dropped by which rule. */
export function budgetPart({ promptInfo: { budget } }: AnsweredTurn): Html {
  const parts = budgetParts.map(({ key, name, look }) => ({ name, look, weight: Math.max(0, budget[key]) }));
  const { dropped, warnings, sharedTokens = 0 } = budget;
  return html`<section aria-labelledby="budget">
    <h2 id="budget">The window, ${budget.windowTokens} tokens</h2>
    ${bar(stacked(parts))}
    <ul class="legend">
      ${parts.map(({ name, look, weight }) => html`<li><span class="swatch ${look}"></span>${name} ${weight}</li> `)}
    </ul>
    <p class="soft">
      Memories may take ${budget.memoryLimitTokens}
      tokens.${sharedTokens > 0 ? ` ${sharedTokens} tokens share a position with another.` : ''}
    </p>
    ${budget.forced ? html`<p><strong class="bad">Forced truncation: the query alone was kept.</strong></p>` : ''}
    ${warnings.map((warning) => html`<p class="bad">Warning: ${printable(warning)}</p>`)}
    <h3>Dropped</h3>
    ${
      dropped.length === 0
        ? html`<p class="soft">Nothing was dropped.</p>`
        : html`<ul class="dropped">
            ${dropped
              .slice(0, MOST_DROPPED)
              .map(
                ({ part, id, tokens, rule }) =>
                  html`<li>
                    <strong>${printable(`${part} ${id}`)}</strong>, ${tokens} tokens: ${printable(droppedRule(rule))}
                  </li> `,
              )}
          </ul>`
    }
    ${leftOut(MOST_DROPPED, dropped.length, 'were dropped')}
  </section>`;
}
