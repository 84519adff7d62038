import { html } from 'hono/html';
import type { DroppedPart } from '../../store/records/prompt-info.ts';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { bar, stacked } from './bar.ts';
import { leftOut } from './shown-text.ts';

/** The parts of a context window, in the order of a bar; `mark` fills a part in a terminal. */
export const budgetParts = [
  { key: 'fixedTokens', name: 'fixed', look: 'system', mark: '█' },
  { key: 'memoryTokens', name: 'memories', look: 'memory', mark: '▓' },
  { key: 'historyTokens', name: 'history', look: 'history', mark: '▒' },
  { key: 'freeTokens', name: 'free', look: 'free', mark: '·' },
  { key: 'reserveTokens', name: 'reserve', look: 'reserve', mark: '░' },
] as const;

const rules: Readonly<Record<DroppedPart['rule'], string>> = {
  'memory-budget': 'the memories before it filled the budget for memories',
  'history-budget': 'newer messages filled the rest of the budget',
  'history-turns': 'before the newest turns that --history-turns keeps',
  'forced-truncation': 'the prompt was too long: the query alone was kept',
};

const MOST_DROPPED = 40;

/** The rule that dropped a part of the prompt, by name and in words. */
export function droppedRule(rule: DroppedPart['rule']): string {
  return `${rule}: ${rules[rule]}`;
}

/** How long a dropped part is, in words. */
export function droppedSize({ tokens }: DroppedPart): string {
  return tokens === null ? 'not counted' : `${tokens} tokens`;
}

/** Section on the use of the context window, and on the parts that were dropped. */
export function budgetPart({ prompt: { budget } }: AnsweredTurn): Html {
  const parts = budgetParts.map(({ key, name, look }) => ({ name, look, weight: Math.max(0, budget[key]) }));
  const { dropped, warnings, sharedTokens } = budget;
  return html`<section aria-labelledby="budget">
    <h2 id="budget">Context window, ${budget.windowTokens} tokens</h2>
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
                (left) =>
                  html`<li>
                    <strong>${printable(`${left.part} ${left.id}`)}</strong>, ${droppedSize(left)}:
                    ${printable(droppedRule(left.rule))}
                  </li> `,
              )}
          </ul>`
    }
    ${leftOut(MOST_DROPPED, dropped.length, 'were dropped')}
  </section>`;
}
