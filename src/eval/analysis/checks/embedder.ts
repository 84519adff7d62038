import { type Check, decided, undecided } from './check.ts';

/** Embedder: different sentences have different vectors, and searching for a sentence finds it. */
export const embedder: Check = ({ probes: { embedder: probe } }) => {
  if (probe === undefined) return undecided('embedder', 'the embedder was not tested');
  const { sentences, shared, lost, unsigned = false } = probe;
  const count = (found: readonly string[], what: string): string[] =>
    found.length === 0 ? [] : [`${found.length} of ${sentences} sentences ${what}: ${JSON.stringify(found[0])}`];
  const faults = [
    ...count(shared, 'have the same vector as another'),
    ...count(lost, 'are not found by their own vector'),
    ...(unsigned ? ['no vector has a negative number: signs were lost'] : []),
  ];
  return faults.length === 0
    ? decided(
        'embedder',
        true,
        `${sentences} sentences: each has its own vector and is found by it`,
        `1 sentence of ${sentences}`,
      )
    : decided('embedder', false, faults.join('; '));
};
