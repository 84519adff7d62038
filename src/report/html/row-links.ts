import { ownValue } from '../../base/prototype-safe-records.ts';
import type { RowLink } from '../../render/table-html.ts';
import { checkNames, type RunResults } from '../../store/records/run-results.ts';
import { viewerAddress } from '../../config/viewer-address.ts';

/** Links table rows by label: an arm or category to its turns, a check to the turns that fail it, other rows to the run. */
export function rowLinks(
  results: Pick<RunResults, 'run' | 'arms'>,
  address = (filter: Readonly<Partial<Record<'arm' | 'category' | 'check', string>>>): string =>
    `${viewerAddress}/run?${new URLSearchParams({ run: results.run.name, ...filter }).toString()}#items`,
): (label: string) => RowLink {
  const arms = new Map(results.arms.map((one) => [one.arm, one]));
  const categories = results.run.dataset.counts.category;
  return (label) => {
    const [arm, items] = [arms.get(label), ownValue(categories, label)];
    if (arm !== undefined) {
      const failed = arm.errors === 0 ? '' : `, ${arm.errors} failed`;
      const words = `${label}: n = ${arm.n} turns${failed}; opens them in the viewer`;
      return { href: address({ arm: label }), words };
    }
    if ((checkNames as readonly string[]).includes(label)) {
      return { href: address({ check: label }), words: `opens the turns that fail ${label} in the viewer` };
    }
    if (items === undefined) return { href: address({}), words: 'opens the run in the viewer' };
    const words = `${label}: n = ${items} questions; opens them in the viewer`;
    return { href: address({ category: label }), words };
  };
}
