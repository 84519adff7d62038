import type { RowLink } from '../../render/html-table.ts';
import { checkNames, type RunResults } from '../../store/records/results.ts';
import { viewerAddress } from '../../config/viewer-address.ts';

/** Filter of the turns that a row is about, as the viewer's addresses have it. */
export type RowFilter = Readonly<Partial<Record<'arm' | 'category' | 'check', string>>>;

function inViewer({ run }: Pick<RunResults, 'run'>): (filter: RowFilter) => string {
  return (filter) => `${viewerAddress}/run?${new URLSearchParams({ run: run.name, ...filter }).toString()}#items`;
}

/** Links of rows by label: of an arm or a category to its turns, of a check to those that fail it, else to the run. */
export function rowLinks(
  results: Pick<RunResults, 'run' | 'arms'>,
  address: (filter: RowFilter) => string = inViewer(results),
): (label: string) => RowLink {
  const arms = new Map(results.arms.map((one) => [one.arm, one]));
  const categories = results.run.dataset.counts.category;
  return (label) => {
    const arm = arms.get(label);
    if (arm !== undefined) {
      const failed = arm.errors === 0 ? '' : `, ${arm.errors} failed`;
      return {
        href: address({ arm: label }),
        words: `${label}: n = ${arm.n} turns${failed}; opens them in the viewer`,
      };
    }
    if ((checkNames as readonly string[]).includes(label)) {
      return { href: address({ check: label }), words: `opens the turns that fail ${label} in the viewer` };
    }
    const items = categories[label];
    if (items !== undefined) {
      return {
        href: address({ category: label }),
        words: `${label}: n = ${items} questions; opens them in the viewer`,
      };
    }
    return { href: address({}), words: 'opens the run in the viewer' };
  };
}
