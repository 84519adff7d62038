import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import { funnelStages, wrongClasses } from '../../store/records/scores.ts';
import { cacheStates } from '../../store/records/turn-account.ts';
import type { TurnFilter } from '../links.ts';
import { cacheNames } from '../turn/cost-sections.ts';

/** The values that filters of a run offer. */
export interface FilterValues {
  readonly arms: readonly string[];
  readonly categories: readonly string[];
  /** Turns that fail a check by themselves, by name of the check. */
  readonly failedChecks: ReadonlyMap<string, number>;
  /** False where no quality of answers is given. */
  readonly judged: boolean;
}

type Option = readonly [value: string, text: string];

const option = (value: string, text: string, chosen: string | undefined): Html =>
  html`<option value="${value}" ${value === (chosen ?? '') ? 'selected' : ''}>${printable(text)}</option>`;

/** A field of a form with a choice of values. */
export const select = (name: string, label: string, chosen: string | undefined, options: readonly Option[]): Html =>
  html`<label
    >${label}
    <select name="${name}">
      ${options.map(([value, text]) => option(value, text, chosen))}
    </select></label
  >`;

/** A field of a form that is ticked or not. */
export const tick = (name: string, label: string, ticked: true | undefined): Html =>
  html`<label class="tick"
    ><input type="checkbox" name="${name}" value="1" ${ticked === true ? 'checked' : ''} /> ${label}</label
  >`;

const each = (names: readonly string[]): Option[] => names.map((name) => [name, name]);

/** The fields of a form that filter the turns of a run. @param onFile those alone that the script of a file can follow */
export function turnFilters(
  filter: TurnFilter,
  { arms, categories, failedChecks, judged }: FilterValues,
  onFile = false,
): Html {
  const answers = html`${select('answer', 'answer', filter.answer, [['', 'any'], ...each(['right', 'wrong'])])}
  ${arms.length < 2 ? '' : select('wrong', 'wrong in', filter.wrong, [['', '–'], ...each(arms)])}
  ${arms.length < 2 ? '' : select('right', 'and right in', filter.right, [['', '–'], ...each(arms)])}
  ${select('wrongClass', 'class of error', filter.wrongClass, [['', 'any'], ...each(wrongClasses)])}
  ${select('stage', 'failed stage', filter.stage, [['', 'any'], ...each(funnelStages)])}`;
  const checks = [...failedChecks].map(([name, turns]): Option => [name, `${name}: ${turns} turns`]);
  return html`<label
      >text
      <input type="search" name="text" value="${filter.text ?? ''}" maxlength="200" data-filter autocomplete="off"
    /></label>
    ${select('arm', 'arm', filter.arm, [['', 'all'], ...each(arms)])} ${judged ? answers : ''}
    ${onFile || categories.length === 0 ? '' : select('category', 'category', filter.category, [['', 'all'], ...each(categories)])}
    ${select('cache', 'cache', filter.cache, [['', 'any'], ...cacheStates.map((one): Option => [one, cacheNames[one]])])}
    ${checks.length === 0 ? '' : select('check', 'fails check', filter.check, [['', 'any or none'], ...checks])}
    ${judged ? tick('disagreeing', 'arms disagree', filter.disagreeing) : ''}
    ${onFile ? '' : tick('truncated', 'truncated', filter.truncated)} ${tick('failed', 'error', filter.failed)}`;
}
