import type { RunResults } from '../../records/results.ts';
import { armEncoding } from './arm-style.ts';

/** Shapes that are told apart without colour, some of them drawn by a path in a square from −1 to 1. */
const SHAPES = [
  'circle',
  'square',
  'diamond',
  'triangle-up',
  'triangle-down',
  'triangle-left',
  'triangle-right',
  'cross',
  // Hourglass, bow tie, pentagon, star, half a disc, chevron.
  'M-1,-1L1,-1L-1,1L1,1Z',
  'M-1,-1L-1,1L1,-1L1,1Z',
  'M0,-1L.95,-.31L.59,.81L-.59,.81L-.95,-.31Z',
  'M0,-1.1L.28,-.35L1.05,-.34L.45,.15L.65,.9L0,.45L-.65,.9L-.45,.15L-1.05,-.34L-.28,-.35Z',
  'M-1,.5A1,1,0,0,1,1,.5Z',
  'M-1,-.9L0,-.2L1,-.9L1,.2L0,.9L-1,.2Z',
] as const;

/**
 * The marks of methods in a figure: no two of 28 have one shape and filling, whatever their arms have elsewhere. The shapes come
 * filled first, and hollow when they are used up.
 */
export function methodMarks({ arms, methods = [] }: Pick<RunResults, 'arms' | 'methods'>, names: readonly string[]) {
  const armOf = (method: string): string => methods.find((one) => one.method === method)!.arm;
  const colours = armEncoding({ arms }, names.map(armOf)).color.scale.range;
  const channel = (range: readonly string[]) => ({
    field: 'method',
    type: 'nominal' as const,
    scale: { domain: [...names], range: [...range] },
    title: null,
    legend: { columns: 2 },
  });
  const isHollow = (place: number): boolean => Math.floor(place / SHAPES.length) % 2 === 1;
  return {
    stroke: channel(colours),
    shape: channel(names.map((_, place) => SHAPES[place % SHAPES.length]!)),
    fill: channel(colours.map((colour, place) => (isHollow(place) ? 'transparent' : colour))),
  };
}
