import { totalsByUser, type Observations } from './observations.ts';

/**
 * Design effect, by which a sample tells less because its items come in users: 1 + (m₀ − 1) · ICC, at least 1, with the
 * intraclass correlation of a one-way analysis of variance and m₀ = (n − Σ mᵢ² ÷ n) ÷ (users − 1). Where the correlation cannot be
 * estimated (all values equal, one user, or one item a user) the worst case is taken, ICC = 1: n ÷ users.
 * @see Kish 1965; Donner and Klar 2000, §1.4
 */
export function designEffect(observations: Observations): number {
  const { sums, counts } = totalsByUser(observations);
  const n = observations.length;
  const users = sums.length;
  const worst = n / users;
  if (users < 2 || n === users) return worst;
  const grand = sums.reduce((total, sum) => total + sum, 0) / n;
  let squares = 0;
  for (const { value } of observations) squares += (value - grand) ** 2;
  if (squares === 0) return worst;
  const between = sums.reduce((total, sum, user) => total + counts[user]! * (sum / counts[user]! - grand) ** 2, 0);
  const betweenMean = between / (users - 1);
  const withinMean = (squares - between) / (n - users);
  const size = (n - counts.reduce((total, count) => total + count ** 2, 0) / n) / (users - 1);
  const correlation = (betweenMean - withinMean) / (betweenMean + (size - 1) * withinMean);
  return Math.max(1, 1 + (size - 1) * correlation);
}

/** The number of independent items that would tell as much: n ÷ design effect. */
export function effectiveItems(observations: Observations): number {
  return observations.length / designEffect(observations);
}
