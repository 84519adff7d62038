import { type Check, decided, undecided } from './check.ts';

/** Embedder: different sentences have different vectors, and a search for each finds it. */
export const embedder: Check = ({ probes: { embedder: probe } }) => {
  if (probe === undefined) return undecided('embedder', 'the embedder was not tested');
  const { sentences, shared, lost, unsigned = false } = probe;
  const count = (found: readonly string[], what: string): string[] =>
    found.length === 0 ? [] : [`${found.length} of ${sentences} sentences ${what}: ${JSON.stringify(found[0])}`];
  const faults = [
    ...count(shared, 'have the vector of another'),
    ...count(lost, 'do not find themselves'),
    ...(unsigned ? ['no vector has a negative number: signs were lost'] : []),
  ];
  return faults.length === 0
    ? decided('embedder', true, `${sentences} sentences: each has a vector of its own and finds itself among all`)
    : decided('embedder', false, faults.join('; '));
};
