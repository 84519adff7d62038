import { type Check, describeFaults, fail, type OptionalCheck, pass, undecided } from './check.ts';

/** Embedder: different sentences have different vectors, and searching for a sentence finds it. */
export const embedder: Check = ({ probes: { embedder: probe } }) => {
  if (probe === undefined) return undecided('the embedder was not tested');
  const { sentences, shared, lost, unsigned = false } = probe;
  const count = (found: readonly string[], what: string): string[] =>
    found.length === 0 ? [] : [`${found.length} of ${sentences} sentences ${what}: ${JSON.stringify(found[0])}`];
  const faults = [
    ...count(shared, 'have the same vector as another'),
    ...count(lost, 'are not found by their own vector'),
    ...(unsigned ? ['no vector has a negative number: signs were lost'] : []),
  ];
  if (faults.length > 0) return fail(faults.join('; '));
  const evidence = `${sentences} sentences: each has its own vector and is found by it`;
  return pass(evidence, `1 sentence of ${sentences}`);
};

/** Retrieval: planted memories are found in the order that the strategy promises; arms get what was retrieved, in order. Null for older runs. */
export const retrieval: OptionalCheck = ({ answered, probes: { retrieverProbe: probe } }) => {
  const observed = answered.filter((turn) => turn.observed.asRetrieved !== undefined);
  const unlike = observed.filter((turn) => turn.observed.asRetrieved === false);
  const faults = describeFaults({ 'have other memories than the retriever gave, or in another order': unlike });
  if (faults !== '') return fail(faults);
  if (probe === undefined && observed.length === 0) return null;
  const found = `${observed.length} turns have what the retriever gave, in its order`;
  const one = `1 turn of ${observed.length}`;
  if (probe === undefined) return pass(found, one);
  const { questions, wrong } = probe;
  const [first] = wrong;
  if (first !== undefined) return fail(`${wrong.length} of ${questions} planted questions: ${first}`);
  const planted = `${questions} planted questions get their memories in the right order`;
  return pass(`${found}; ${planted}`, `${one}, 1 planted question of ${questions}`);
};
