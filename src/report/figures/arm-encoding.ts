import { PANEL_WIDTH } from '../../render/figure.ts';
import type { ArmTraits, Mark } from '../../store/records/arm-traits.ts';
import type { RunResults } from '../../store/records/run-results.ts';

type WithArms = Pick<RunResults, 'arms'>;

const unknown: Mark = { colour: '#6b6f71', shape: 'circle', dash: [4, 4] };

function findTraits({ arms }: WithArms, arm: string): ArmTraits | undefined {
  const all = arms.map(({ traits }) => traits);
  return all.find(({ name }) => name === arm) ?? all.find(({ base }) => base === arm);
}

/** Tells arms that compete from those that only check the bench: a twin, and an arm with another user's memories. */
export function isContender(results: WithArms, arm: string): boolean {
  const traits = findTraits(results, arm);
  return traits?.control !== 'twin' && traits?.retrieves !== 'donor';
}

const findMark = (results: WithArms, arm: string): Mark => findTraits(results, arm)?.mark ?? unknown;

/** Shapes that Vega draws by name, and paths of the others in a square from −1 to 1. */
const symbols: Readonly<Record<Mark['shape'], string>> = {
  circle: 'circle',
  square: 'square',
  diamond: 'diamond',
  'triangle-up': 'triangle-up',
  'triangle-down': 'triangle-down',
  'triangle-left': 'triangle-left',
  'triangle-right': 'triangle-right',
  cross: 'cross',
  stroke: 'stroke',
  hourglass: 'M-1,-1L1,-1L-1,1L1,1Z',
  'bow-tie': 'M-1,-1L-1,1L1,-1L1,1Z',
  pentagon: 'M0,-1L.95,-.31L.59,.81L-.59,.81L-.95,-.31Z',
  star: 'M0,-1.1L.28,-.35L1.05,-.34L.45,.15L.65,.9L0,.45L-.65,.9L-.45,.15L-1.05,-.34L-.28,-.35Z',
  'half-disc': 'M-1,.5A1,1,0,0,1,1,.5Z',
  chevron: 'M-1,-.9L0,-.2L1,-.9L1,.2L0,.9L-1,.2Z',
};

/** Symbols for marks whose own is taken, in the order in which figures use them up; a stroke has no outline. */
const filledSymbols: readonly string[] = Object.values(symbols).filter((symbol) => symbol !== 'stroke');

type Shaped = Pick<Mark, 'shape'>;

/** Symbols of marks, no two alike: one whose shape is taken gets the first that no other mark has. */
export function distinctSymbols(marks: readonly Shaped[]): string[] {
  return distinctLooks(marks, [false]).map(({ symbol }) => symbol);
}

/** As `distinctSymbols`, for more marks than there are symbols: a mark whose shape is taken gets its outline, or else another. */
export function distinctFillings(marks: readonly Shaped[]): { readonly symbol: string; readonly hollow: boolean }[] {
  return distinctLooks(marks, [false, true]);
}

function distinctLooks(marks: readonly Shaped[], fillings: readonly boolean[]) {
  const own = new Set(marks.map(({ shape }) => symbols[shape]));
  const others = filledSymbols.filter((symbol) => !own.has(symbol));
  const taken = new Set<string>();
  return marks.map(({ shape }) => {
    const wanted = [symbols[shape], ...others, ...(fillings.length === 1 ? [] : filledSymbols)].flatMap((symbol) =>
      fillings.map((hollow) => ({ symbol, hollow })).filter(({ hollow }) => !hollow || symbol !== 'stroke'),
    );
    const given = wanted.find(({ symbol, hollow }) => !taken.has(`${symbol} ${hollow}`)) ?? wanted[0]!;
    taken.add(`${given.symbol} ${given.hollow}`);
    return given;
  });
}

/** Widths of a letter of a legend, and of its symbol with the space around it, px. */
const LETTER = 6.5;
const SYMBOL = 22;

function legendColumns(labels: readonly string[]): number {
  const longest = Math.max(...labels.map(({ length }) => length));
  return Math.min(4, Math.max(1, Math.floor(PANEL_WIDTH / (LETTER * longest + SYMBOL))));
}

const channel = <Range>(field: string, domain: readonly string[], range: readonly Range[], columns: number) => ({
  field,
  type: 'nominal' as const,
  scale: { domain: [...domain], range: [...range] },
  title: null,
  legend: { columns },
});

/** The scales of colour, shape and dash, with one legend. Arms that differ in an argument share a colour, and no two a shape. */
export function armEncoding(results: WithArms, arms: readonly string[]) {
  const marks = arms.map((arm) => findMark(results, arm));
  const columns = legendColumns(arms);
  return {
    color: channel('arm', arms, marks.map(({ colour }) => colour), columns), // prettier-ignore
    shape: channel('arm', arms, distinctSymbols(marks), columns),
    strokeDash: channel('arm', arms, marks.map(({ dash }) => [...dash]), columns), // prettier-ignore
  };
}

/** As `armEncoding`, for curves with points: the legend shows the points. A layer of lines needs `asLines`. */
export function curveEncoding(results: WithArms, arms: readonly string[]) {
  const { color, shape, strokeDash } = armEncoding(results, arms);
  return { color, shape, strokeDash: { ...strokeDash, field: 'line', legend: null } };
}

/** Names the arm once more for a layer of lines, since channels of one field share a legend. */
export const asLines = [{ calculate: 'datum.arm', as: 'line' }];

/** As `armEncoding`, where an axis names the arms: each has the shape of its family, and there is no legend. */
export function namedArmEncoding(results: WithArms, arms: readonly string[]) {
  const { color, shape } = armEncoding(results, arms);
  const range = arms.map((arm) => symbols[findMark(results, arm).shape]);
  return { color: { ...color, legend: null }, shape: { ...shape, scale: { ...shape.scale, range }, legend: null } };
}

/** The marks of methods: no two have one shape and filling, and as many as possible are those of their arms in other figures. */
export function methodEncoding({ arms, methods = [] }: Pick<RunResults, 'arms' | 'methods'>, names: readonly string[]) {
  const marks = names.map((name) => findMark({ arms }, methods.find(({ method }) => method === name)!.arm));
  const fillings = distinctFillings(marks);
  const fills = marks.map(({ colour }, place) => (fillings[place]!.hollow ? 'transparent' : colour));
  return {
    stroke: channel('method', names, marks.map(({ colour }) => colour), 2), // prettier-ignore
    shape: channel('method', names, fillings.map(({ symbol }) => symbol), 2), // prettier-ignore
    fill: channel('method', names, fills, 2),
  };
}
