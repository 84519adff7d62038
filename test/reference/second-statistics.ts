import jstat from 'jstat';

/** A value of a user's item. */
export interface Row {
  readonly user: number;
  readonly value: number;
}

type Bounds = readonly [low: number, high: number];

const mean = (rows: readonly Row[]): number => rows.reduce((sum, { value }) => sum + value, 0) / rows.length;
const usersOf = (rows: readonly Row[]): number[] => [...new Set(rows.map(({ user }) => user))];

/** Variance of the mean by leaving out each user in turn, and computing the mean of the others anew. */
function variance(rows: readonly Row[]): number {
  const users = usersOf(rows);
  const whole = mean(rows);
  const squares = users.map((user) => (mean(rows.filter((row) => row.user !== user)) - whole) ** 2);
  return (squares.reduce((sum, square) => sum + square, 0) * (users.length - 1)) / users.length;
}

function independentVariance(rows: readonly Row[]): number {
  const whole = mean(rows);
  return rows.reduce((sum, { value }) => sum + (value - whole) ** 2, 0) / (rows.length - 1) / rows.length;
}

const quantile = (rows: readonly Row[]): number => jstat.studentt.inv(0.975, usersOf(rows).length - 1);

/** Student's interval. */
export function studentBounds(rows: readonly Row[]): Bounds {
  const half = quantile(rows) * Math.sqrt(Math.max(variance(rows), independentVariance(rows)));
  return [mean(rows) - half, mean(rows) + half];
}

/** Design effect: the arms' mean variances in items², and half an event at the effect `prior`. */
export function effectOf(arms: readonly (readonly Row[])[], prior = Infinity): number {
  const average = (of: (rows: readonly Row[]) => number): number =>
    arms.map((rows) => of(rows) * rows.length ** 2).reduce((sum, one) => sum + one, 0) / arms.length;
  const worst = Math.max(...arms.map((rows) => rows.length / usersOf(rows).length));
  return Math.max(1, (average(variance) + 0.5 * Math.min(prior, worst)) / (average(independentVariance) + 0.5));
}

/** The point at which `inside` ends, between one within and one without. */
function border(within: number, without: number, inside: (value: number) => boolean): number {
  let [near, far] = [within, without];
  for (let step = 0; step < 60; step++) {
    const middle = (near + far) / 2;
    if (inside(middle)) near = middle;
    else far = middle;
  }
  return near;
}

/** The shares p that are within t standard errors, by p itself, of the observed one: Wilson's, found by trying. */
export function wilsonBounds(rows: readonly Row[], prior: number): Bounds {
  const share = mean(rows);
  const spread = independentVariance(rows);
  const effective =
    spread === 0 ? rows.length / effectOf([rows], prior) : (share * (1 - share)) / (spread * effectOf([rows], prior));
  const isWithin = (p: number): boolean =>
    (p - share) ** 2 <= (quantile(rows) ** 2 * p * (1 - p)) / effective + Number.EPSILON;
  return [border(share, 0, isWithin), border(share, 1, isWithin)];
}

/** The likeliest share of losses at a given difference, found by trying shares ever closer together. */
export function likeliestLosses(pairs: number, wins: number, losses: number, difference: number): number {
  const likelihood = (loss: number): number =>
    [
      [wins, loss + difference],
      [losses, loss],
      [pairs - wins - losses, 1 - 2 * loss - difference],
    ].reduce((sum, [count, share]) => sum + (count === 0 ? 0 : count! * Math.log(Math.max(1e-300, share!))), 0);
  let [low, high] = [Math.max(0, -difference), (1 - difference) / 2];
  for (let step = 0; step < 60; step++) {
    const tried = Array.from({ length: 5 }, (_, place) => low + ((high - low) * place) / 4);
    const best = tried.reduce((one, other) => (likelihood(other) > likelihood(one) ? other : one));
    const width = (high - low) / 4;
    [low, high] = [Math.max(low, best - width), Math.min(high, best + width)];
  }
  return (low + high) / 2;
}

/** Tango's score of a difference of right and wrong answers, from the likelihood alone. */
function score(rows: readonly Row[], effect: number, difference: number): number {
  const count = (sign: number): number => rows.filter(({ value }) => value === sign).length / effect;
  const [pairs, wins, losses] = [rows.length / effect, count(1), count(-1)];
  const loss = likeliestLosses(pairs, wins, losses, difference);
  return ((wins - losses) / pairs - difference) / Math.sqrt((2 * loss + difference - difference ** 2) / pairs);
}

/** Bounds of a paired difference of right and wrong answers. */
export function tangoBounds(rows: readonly Row[], effect: number): Bounds {
  const isWithin = (difference: number): boolean => Math.abs(score(rows, effect, difference)) <= quantile(rows);
  return [border(mean(rows), -0.999, isWithin), border(mean(rows), 0.999, isWithin)];
}

/** One-sided p of "the difference is that much or less". */
export function pAbove(rows: readonly Row[], effect: number, difference: number): number {
  return 1 - jstat.studentt.cdf(score(rows, effect, difference), usersOf(rows).length - 1);
}

/** Two-sided p of all flips of users' signs. */
export function flipP(rows: readonly Row[]): number {
  const sums = usersOf(rows).map((user) => rows.reduce((sum, row) => sum + (row.user === user ? row.value : 0), 0));
  const all = sums.reduce<number[]>((totals, sum) => totals.flatMap((total) => [total + sum, total - sum]), [0]);
  const observed = Math.abs(all[0]!);
  return all.filter((total) => Math.abs(total) >= observed - 1e-9).length / all.length;
}

/** Holm's adjustment, by its definition: the largest of the products up to one's own rank. */
export function holmOf(ps: readonly number[]): number[] {
  const ranked = [...ps].sort((a, b) => a - b);
  return ps.map((p) =>
    Math.min(1, Math.max(...ranked.slice(0, ranked.indexOf(p) + 1).map((one, rank) => one * (ps.length - rank)))),
  );
}

/**
 * The first turn by which what later turns cost less has paid for what the first one cost more, with so many half widths of its
 * interval on top: each turn tried by itself, with the variance over users of that turn's sum.
 */
export function paybackTurn(first: readonly Row[], later: readonly Row[], halves: number): number | null {
  const users = usersOf([...first, ...later]);
  const t = jstat.studentt.inv(0.975, users.length - 1);
  const part = (rows: readonly Row[], user: number): number =>
    rows.reduce((sum, row) => sum + (row.user === user ? row.value - mean(rows) : 0), 0) / rows.length;
  for (let turn = 1; turn <= 10_000; turn++) {
    const squares = users.reduce((sum, user) => sum + (part(first, user) + (turn - 1) * part(later, user)) ** 2, 0);
    const half = t * Math.sqrt((squares * users.length) / (users.length - 1));
    if (mean(first) + (turn - 1) * mean(later) + halves * half <= 0) return turn;
  }
  return null;
}
