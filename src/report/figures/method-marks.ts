import type { RunResults } from '../../store/records/results.ts';
import { markOf } from './arm-style.ts';
import { distinctFillings } from './symbols.ts';

/** The marks of methods in a figure: no two have one shape and filling, and as many as can those that their arms have elsewhere. */
export function methodMarks({ arms, methods = [] }: Pick<RunResults, 'arms' | 'methods'>, names: readonly string[]) {
  const marks = names.map((name) => markOf({ arms }, methods.find(({ method }) => method === name)!.arm));
  const fillings = distinctFillings(marks);
  const channel = (range: readonly string[]) => ({
    field: 'method',
    type: 'nominal' as const,
    scale: { domain: [...names], range: [...range] },
    title: null,
    legend: { columns: 2 },
  });
  return {
    stroke: channel(marks.map(({ colour }) => colour)),
    shape: channel(fillings.map(({ symbol }) => symbol)),
    fill: channel(marks.map(({ colour }, place) => (fillings[place]!.hollow ? 'transparent' : colour))),
  };
}
