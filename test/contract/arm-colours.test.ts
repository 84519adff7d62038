import {
  type Color,
  differenceCiede2000,
  filterDeficiencyDeuter,
  filterDeficiencyProt,
  filterGrayscale,
  parse,
  wcagContrast,
} from 'culori';
import { describe, expect, it } from 'vitest';
import { suiteNames } from '../../src/config/bench-config.ts';
import type { Mark } from '../../src/store/records/arm-traits.ts';
import { suitesNamed } from '../../src/eval/suites/suites.ts';
import { distinctLooks } from '../../src/report/figures/arm-encoding.ts';
import { parseArmName } from '../../src/systems/arms/arm-name.ts';
import { armRegistry } from '../../src/systems/arms/arm-registry.ts';

/** Papers of light and dark pages. */
const papers = ['#ffffff', '#14171a'];
/** Least contrast of graphics (WCAG 2.2, 1.4.11). */
const MIN_CONTRAST = 3;

/** Least distances (CIEDE2000) between colours of one figure, as readers see them; the last on paper without colour. */
const views: readonly [name: string, least: number, view: (colour: Color) => Color][] = [
  ['as they are', 13, (colour) => colour],
  ['without green receptors', 8.5, filterDeficiencyDeuter(1)],
  ['without red receptors', 8.5, filterDeficiencyProt(1)],
  ['in grey', 2.5, filterGrayscale(1)],
];

const markOf = (arm: string): Mark => armRegistry.mark(arm)!;

/** Arms that check the bench are in no figure. */
const drawn = (arms: readonly string[]): string[] => arms.filter((arm) => !['rag-twin', 'dki-wrong'].includes(arm));

const figures = suitesNamed(suiteNames).map(({ name, arms }) => ({ name, arms: drawn(arms) }));

/** An arm of the same method, of which a figure has one mark: that of its first budget. */
const describeMethod = (arm: string, _: number, all: readonly string[]): string => {
  const method = (one: string): string => one.replace(/:\.?\d+$/, '').replace(/@store=.*/, '@store');
  return all.find((one) => method(one) === method(arm))!;
};

/** The colours of a figure: settings and arguments of an arm have that of the arm. */
const coloursOf = (arms: readonly string[]): string[] => [...new Set(arms.map((arm) => markOf(arm).colour))];

describe.each(figures)('the arms of suite $name', ({ arms }) => {
  const distance = differenceCiede2000();
  const pairs = coloursOf(arms).flatMap((a, place, all) => all.slice(place + 1).map((b) => [a, b] as const));

  it.each(views)('have colours that are told apart %s', (_, least, view) => {
    const seen = (colour: string): Color => view(parse(colour)!);
    const near = pairs.filter(([a, b]) => distance(seen(a), seen(b)) < least);
    expect(near).toEqual([]);
  });
});

/** Suites whose figures tell arms by a legend; those with lines. */
const withLegend = ['main', 'coherence', 'scaling', 'latency'];
const withLines = withLegend.filter((name) => name !== 'main');
const armsOf = (suite: string): string[] => figures.find(({ name }) => name === suite)!.arms;

it.each(withLegend)('the arms of suite %s have symbols that are told apart without any colour', (suite) => {
  const symbols = distinctLooks(armsOf(suite).map(markOf), [false]).map(({ symbol }) => symbol);
  expect(new Set(symbols).size).toBe(symbols.length);
});

it('so have methods, filled or not', () => {
  const methods = [...new Set(armsOf('methods').map(describeMethod))];
  const told = distinctLooks(methods.map(markOf), [false, true]).map(({ symbol, hollow }) => `${symbol} ${hollow}`);
  expect(methods.length).toBeGreaterThan(20);
  expect(new Set(told).size).toBe(methods.length);
});

it.each(withLines)('the lines of suite %s have dashes that differ', (suite) => {
  const bases = [...new Set(armsOf(suite).map((arm) => parseArmName(arm)!.base))];
  const dashes = bases.map((arm) => markOf(arm).dash.join(' '));
  expect(new Set(dashes).size).toBe(bases.length);
});

it('every arm can be seen on light and on dark paper', () => {
  const colours = coloursOf(armRegistry.names);
  const faint = colours.filter((colour) => papers.some((paper) => wcagContrast(colour, paper) < MIN_CONTRAST));
  expect(faint).toEqual([]);
  expect(colours.length).toBeGreaterThan(15);
});
