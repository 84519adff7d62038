import { type Check, decided, undecided } from './check.ts';

/** Embedder: different sentences have different vectors, and each, asked by itself, finds itself among all. */
export const embedder: Check = ({ probes: { embedder: probe } }) => {
  if (probe === undefined) return undecided('embedder', 'the embedder was not tested');
  const { sentences, shared, lost } = probe;
  if (shared.length + lost.length === 0) {
    const evidence = `${sentences} sentences: each has a vector of its own and finds itself among all`;
    return decided('embedder', true, evidence);
  }
  const of = (found: readonly string[], what: string): string[] =>
    found.length === 0 ? [] : [`${found.length} of ${sentences} sentences ${what}: ${JSON.stringify(found[0])}`];
  return decided(
    'embedder',
    false,
    [...of(shared, 'have the vector of another'), ...of(lost, 'do not find themselves')].join('; '),
  );
};
