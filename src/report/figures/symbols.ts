import type { Mark } from '../../store/records/arm-traits.ts';

type Shape = Mark['shape'];

/** Shapes that Vega draws by name, and paths of the others in a square from −1 to 1. */
const symbols: Readonly<Record<Shape, string>> = {
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

/** Symbols for marks whose own is taken, in the order in which figures use them up; a stroke is no outline. */
const filledSymbols: readonly string[] = Object.values(symbols).filter((symbol) => symbol !== 'stroke');

/** The symbol of a mark as Vega draws it. */
export const symbolOf = ({ shape }: Pick<Mark, 'shape'>): string => symbols[shape];

/** The symbols of marks, no two alike: one whose shape is taken gets the first that no other mark has. */
export function distinctSymbols(marks: readonly Pick<Mark, 'shape'>[]): string[] {
  const own = new Set(marks.map(symbolOf));
  const free = filledSymbols.filter((symbol) => !own.has(symbol));
  const taken = new Set<string>();
  return marks.map((mark) => {
    const symbol = symbolOf(mark);
    const given = taken.has(symbol) ? (free.shift() ?? symbol) : symbol;
    taken.add(given);
    return given;
  });
}

/** A symbol, filled or as an outline. */
export interface FilledSymbol {
  readonly symbol: string;
  readonly hollow: boolean;
}

/** As `distinctSymbols`, of more marks than there are symbols: a mark whose shape is taken gets its outline, or else another. */
export function distinctFillings(marks: readonly Pick<Mark, 'shape'>[]): FilledSymbol[] {
  const both = (symbol: string): FilledSymbol[] =>
    [false, ...(filledSymbols.includes(symbol) ? [true] : [])].map((hollow) => ({ symbol, hollow }));
  const own = new Set(marks.map(symbolOf));
  const others = filledSymbols.filter((symbol) => !own.has(symbol));
  const taken = new Set<string>();
  const keyOf = ({ symbol, hollow }: FilledSymbol): string => `${symbol} ${hollow}`;
  return marks.map((mark) => {
    const wanted = [...both(symbolOf(mark)), ...[...others, ...filledSymbols].flatMap(both)];
    const given = wanted.find((one) => !taken.has(keyOf(one))) ?? wanted[0]!;
    taken.add(keyOf(given));
    return given;
  });
}
