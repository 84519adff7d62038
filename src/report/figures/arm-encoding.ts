import { PANEL_WIDTH } from '../../render/figure.ts';
import { type ArmTraits, type Mark, markShape } from '../../store/records/arm-traits.ts';
import type { RunResults } from '../../store/records/run-results.ts';

/** Arms with their traits, which say how they are drawn. */
export interface ArmsWithTraits {
  readonly arms: readonly Pick<RunResults['arms'][number], 'traits'>[];
}

const unknown: Mark = { colour: '#6b6f71', shape: 'circle', dash: [4, 4] };

function findTraits({ arms }: ArmsWithTraits, arm: string): ArmTraits | undefined {
  const all = arms.map(({ traits }) => traits);
  return all.find(({ name }) => name === arm) ?? all.find(({ base }) => base === arm);
}

/** False for arms that only check the bench: a twin arm, and an arm with another user's memories. */
export function isContender(results: ArmsWithTraits, arm: string): boolean {
  const traits = findTraits(results, arm);
  return traits?.control !== 'twin' && traits?.retrieves !== 'donor';
}

const findMark = (results: ArmsWithTraits, arm: string): Mark => findTraits(results, arm)?.mark ?? unknown;

/** SVG paths within −1 to 1, of the shapes that Vega does not know by name. */
const paths: Readonly<Partial<Record<Mark['shape'], string>>> = {
  hourglass: 'M-1,-1L1,-1L-1,1L1,1Z',
  'bow-tie': 'M-1,-1L-1,1L1,-1L1,1Z',
  pentagon: 'M0,-1L.95,-.31L.59,.81L-.59,.81L-.95,-.31Z',
  star: 'M0,-1.1L.28,-.35L1.05,-.34L.45,.15L.65,.9L0,.45L-.65,.9L-.45,.15L-1.05,-.34L-.28,-.35Z',
  'half-disc': 'M-1,.5A1,1,0,0,1,1,.5Z',
  chevron: 'M-1,-.9L0,-.2L1,-.9L1,.2L0,.9L-1,.2Z',
};

const symbolOf = ({ shape }: Pick<Mark, 'shape'>): string => paths[shape] ?? shape;

/** Symbols that replace one that is taken, in order of use. A stroke has no area to fill. */
const filledSymbols = markShape.options.filter((shape) => shape !== 'stroke').map((shape) => symbolOf({ shape }));

/**
 * A different symbol for each mark. If its shape is taken, a mark gets the first shape that no other mark wants or, where
 * there are more marks than symbols, the outline of its shape, or else another shape. @param fillings whether to use outlines
 */
export function distinctLooks(marks: readonly Pick<Mark, 'shape'>[], fillings: readonly [false, true?]) {
  const own = new Set(marks.map(symbolOf));
  const others = filledSymbols.filter((symbol) => !own.has(symbol));
  const taken = new Set<string>();
  return marks.map((mark) => {
    const wanted = [symbolOf(mark), ...others, ...(fillings.length === 1 ? [] : filledSymbols)].flatMap((symbol) =>
      fillings.map((hollow) => ({ symbol, hollow })).filter(({ hollow }) => !hollow || symbol !== 'stroke'),
    );
    const given = wanted.find(({ symbol, hollow }) => !taken.has(`${symbol} ${hollow}`)) ?? wanted[0]!;
    taken.add(`${given.symbol} ${given.hollow}`);
    return given;
  });
}

/** Widths in px: of a letter of the legend, and of a symbol with its margins. */
const LETTER = 6.5;
const SYMBOL = 22;
/** Of a panel and the labels of its axis. */
const LEGEND_WIDTH = PANEL_WIDTH + 54;

/** The most columns, each as wide as its longest label, that fit. */
function legendColumns(labels: readonly string[]): number {
  const width = (columns: number): number =>
    Array.from({ length: columns }, (_, column) => {
      const lengths = labels.filter((_label, place) => place % columns === column).map(({ length }) => length);
      return LETTER * Math.max(0, ...lengths) + SYMBOL;
    }).reduce((sum, one) => sum + one, 0);
  return [4, 3, 2].find((columns) => width(columns) <= LEGEND_WIDTH) ?? 1;
}

const channel = <Range>(field: string, domain: readonly string[], range: readonly Range[], columns: number) => ({
  field,
  type: 'nominal' as const,
  scale: { domain: [...domain], range: [...range] },
  title: null,
  legend: { columns },
});

/** Scales of colour, shape and dash with one legend. Arms that differ only in an argument share a colour; shapes are unique. */
export function armEncoding(results: ArmsWithTraits, arms: readonly string[]) {
  const marks = arms.map((arm) => findMark(results, arm));
  const columns = legendColumns(arms);
  return {
    color: channel('arm', arms, marks.map(({ colour }) => colour), columns), // prettier-ignore
    shape: channel('arm', arms, distinctLooks(marks, [false]).map(({ symbol }) => symbol), columns), // prettier-ignore
    strokeDash: channel('arm', arms, marks.map(({ dash }) => [...dash]), columns), // prettier-ignore
  };
}

/** As `armEncoding`, for curves with points. The legend shows the points; the layer of lines needs the transform `asLines`. */
export function curveEncoding(results: ArmsWithTraits, arms: readonly string[]) {
  const { color, shape, strokeDash } = armEncoding(results, arms);
  return { color, shape, strokeDash: { ...strokeDash, field: 'line', legend: null } };
}

/** Copies the arm to a second field for lines, since Vega merges the legends of channels with the same field. */
export const asLines = [{ calculate: 'datum.arm', as: 'line' }];

/** As `armEncoding`, for figures with arms on an axis: no legend, and arms of one family share a shape. */
export function namedArmEncoding(results: ArmsWithTraits, arms: readonly string[]) {
  const { color, shape } = armEncoding(results, arms);
  const range = arms.map((arm) => symbolOf(findMark(results, arm)));
  return { color: { ...color, legend: null }, shape: { ...shape, scale: { ...shape.scale, range }, legend: null } };
}

/** Scales of methods. Shape and filling together are unique, and match the arm's mark in other figures where possible. */
export function methodEncoding({ arms, methods = [] }: Pick<RunResults, 'arms' | 'methods'>, names: readonly string[]) {
  const marks = names.map((name) => findMark({ arms }, methods.find(({ method }) => method === name)!.arm));
  const looks = distinctLooks(marks, [false, true]);
  const fills = marks.map(({ colour }, place) => (looks[place]!.hollow ? 'transparent' : colour));
  return {
    stroke: channel('method', names, marks.map(({ colour }) => colour), 2), // prettier-ignore
    shape: channel('method', names, looks.map(({ symbol }) => symbol), 2), // prettier-ignore
    fill: channel('method', names, fills, 2),
  };
}
