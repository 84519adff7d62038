import type { ArmTraits, Mark } from '../../store/records/arm-traits.ts';
import type { RunResults } from '../../store/records/results.ts';
import { distinctSymbols, symbolOf } from './symbols.ts';
import { PANEL_WIDTH } from './theme.ts';

type WithArms = Pick<RunResults, 'arms'>;

const unknown: Mark = { colour: '#6b6f71', shape: 'circle', dash: [4, 4] };

/** The traits of an arm by its name, or by its name without settings. */
function traitsOf({ arms }: WithArms, arm: string): ArmTraits | undefined {
  const all = arms.map(({ traits }) => traits);
  return all.find(({ name }) => name === arm) ?? all.find(({ base }) => base === arm);
}

/** Tells arms that compete from those that only check the bench: a twin, and an arm with another user's memories. */
export function isContender(results: WithArms, arm: string): boolean {
  const traits = traitsOf(results, arm);
  return traits?.control !== 'twin' && traits?.retrieves !== 'donor';
}

/** The mark of an arm. */
export function markOf(results: WithArms, arm: string): Mark {
  return traitsOf(results, arm)?.mark ?? unknown;
}

/** Widths of a letter of a legend, and of its symbol with the space around it, px. */
const LETTER = 6.5;
const SYMBOL = 22;

/** Columns of a legend that is as wide as a panel. */
function legendColumns(labels: readonly string[]): number {
  const longest = Math.max(...labels.map(({ length }) => length));
  return Math.min(4, Math.max(1, Math.floor(PANEL_WIDTH / (LETTER * longest + SYMBOL))));
}

/**
 * The scales that give each arm its colour, its shape and its dash; one legend explains all three. Arms that differ in an argument,
 * as `dki-link:4` and `dki-link:8`, share a colour, and no two arms a shape.
 */
export function armEncoding(results: WithArms, arms: readonly string[]) {
  const marks = arms.map((arm) => markOf(results, arm));
  const legend = { columns: legendColumns(arms) };
  const channel = <Range>(range: readonly Range[]) => ({
    field: 'arm',
    type: 'nominal' as const,
    scale: { domain: [...arms], range: [...range] },
    title: null,
    legend,
  });
  return {
    color: channel(marks.map(({ colour }) => colour)),
    shape: channel(distinctSymbols(marks)),
    strokeDash: channel(marks.map(({ dash }) => [...dash])),
  };
}

/**
 * As `armEncoding`, of curves with points: their legend shows the points, whose shapes an outline in dashes would blur. A layer of
 * lines needs `asLines`, which names the arm once more, since channels of one field share a legend.
 */
export function curveEncoding(results: WithArms, arms: readonly string[]) {
  const { color, shape, strokeDash } = armEncoding(results, arms);
  return { color, shape, strokeDash: { ...strokeDash, field: 'line', legend: null } };
}

/** The transform of a layer of lines. */
export const asLines = [{ calculate: 'datum.arm', as: 'line' }];

/** As `armEncoding`, where an axis names the arms: each has the shape of its family, and there is no legend. */
export function namedArmEncoding(results: WithArms, arms: readonly string[]) {
  const { color, shape } = armEncoding(results, arms);
  const own = arms.map((arm) => symbolOf(markOf(results, arm)));
  return {
    color: { ...color, legend: null },
    shape: { ...shape, scale: { ...shape.scale, range: own }, legend: null },
  };
}
