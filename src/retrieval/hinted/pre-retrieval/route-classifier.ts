import { textTerms } from '../../text-terms.ts';
import type { RouteExample } from './pre-retrieval-types.ts';

const ITERATIONS = 300;
const LEARNING_RATE = 2;
const SHRINKAGE = 1e-3;

/** Extracts terms and pairs of neighbours, each once: pairs represent the order of words. */
function features(question: string): string[] {
  const terms = ['<', ...textTerms(question), '>'];
  return [...new Set([...terms, ...terms.slice(1).map((term, index) => `${terms[index]!} ${term}`)])];
}

export type RouteClassifier = ReturnType<typeof fitRouteClassifier>;

/**
 * Multinomial logistic regression on a bag of words, L2-regularised, fitted by gradient descent from zero: the same
 * examples give the same classifier everywhere. A few hundred examples take some tens of milliseconds.
 * @param examples at least one for each label
 */
export function fitRouteClassifier(examples: readonly RouteExample[]) {
  const labels = [...new Set(examples.map(({ strategy }) => strategy))];
  const documents = examples.map(({ question }) => features(question));
  const vocabulary = new Map([...new Set(documents.flat())].map((feature, index) => [feature, index]));
  const indexes = (document: readonly string[]): number[] =>
    document.map((feature) => vocabulary.get(feature)).filter((index) => index !== undefined);
  const inputs = documents.map(indexes);
  const targets = examples.map(({ strategy }) => labels.indexOf(strategy));
  const weights = labels.map(() => new Float64Array(vocabulary.size));
  for (let iteration = 0; iteration < ITERATIONS; iteration++) descend(weights, inputs, targets);
  return {
    /** Returns the most probable strategy, and its probability; of equal ones, the first in the examples. */
    classify(question: string) {
      const probabilities = labelProbabilities(weights, indexes(features(question)));
      const probability = Math.max(...probabilities);
      return { strategy: labels[probabilities.indexOf(probability)]!, probability };
    },
  };
}

/** Makes one step of gradient descent on the mean cross-entropy. @param weights one row a label */
function descend(
  weights: readonly Float64Array[],
  inputs: readonly (readonly number[])[],
  targets: readonly number[],
): void {
  const rate = LEARNING_RATE / inputs.length;
  const errors = inputs.map((input, example) =>
    labelProbabilities(weights, input).map((p, label) => p - Number(label === targets[example])),
  );
  for (const [label, row] of weights.entries()) {
    for (let index = 0; index < row.length; index++) row[index]! *= 1 - LEARNING_RATE * SHRINKAGE;
    for (const [example, input] of inputs.entries()) {
      for (const index of input) row[index]! -= rate * errors[example]![label]!;
    }
  }
}

function labelProbabilities(weights: readonly Float64Array[], input: readonly number[]): number[] {
  const logits = weights.map((row) => input.reduce((sum, index) => sum + row[index]!, 0));
  const largest = Math.max(...logits);
  const powers = logits.map((logit) => Math.exp(logit - largest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}
