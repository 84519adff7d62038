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

/**
 * Multinomial logistic regression on a bag of words, L2-regularised, fitted by gradient descent from zero: the same
 * examples give the same classifier everywhere. A few hundred examples take some tens of milliseconds.
 */
export class RouteClassifier {
  readonly #labels: readonly string[];
  readonly #vocabulary: ReadonlyMap<string, number>;
  /** One row of weights a label. */
  readonly #weights: readonly Float64Array[];

  /** Fits the classifier. @param examples at least one for each label */
  constructor(examples: readonly RouteExample[]) {
    this.#labels = [...new Set(examples.map(({ strategy }) => strategy))];
    const documents = examples.map(({ question }) => features(question));
    this.#vocabulary = new Map([...new Set(documents.flat())].map((feature, index) => [feature, index]));
    const inputs = documents.map((document) => this.#indexes(document));
    const targets = examples.map(({ strategy }) => this.#labels.indexOf(strategy));
    this.#weights = this.#labels.map(() => new Float64Array(this.#vocabulary.size));
    for (let iteration = 0; iteration < ITERATIONS; iteration++) this.#descend(inputs, targets);
  }

  /** Returns the most probable strategy, and its probability; of equal ones, the first in the examples. */
  classify(question: string) {
    const probabilities = this.#probabilities(this.#indexes(features(question)));
    const probability = Math.max(...probabilities);
    return { strategy: this.#labels[probabilities.indexOf(probability)]!, probability };
  }

  /** Makes one step of gradient descent on the mean cross-entropy. */
  #descend(inputs: readonly (readonly number[])[], targets: readonly number[]): void {
    const rate = LEARNING_RATE / inputs.length;
    const errors = inputs.map((input, example) =>
      this.#probabilities(input).map((p, label) => p - Number(label === targets[example])),
    );
    for (const [label, row] of this.#weights.entries()) {
      for (let index = 0; index < row.length; index++) row[index]! *= 1 - LEARNING_RATE * SHRINKAGE;
      for (const [example, input] of inputs.entries()) {
        for (const index of input) row[index]! -= rate * errors[example]![label]!;
      }
    }
  }

  #indexes(document: readonly string[]): number[] {
    return document.map((feature) => this.#vocabulary.get(feature)).filter((index) => index !== undefined);
  }

  #probabilities(input: readonly number[]): number[] {
    const logits = this.#weights.map((row) => input.reduce((sum, index) => sum + row[index]!, 0));
    const largest = Math.max(...logits);
    const powers = logits.map((logit) => Math.exp(logit - largest));
    const total = powers.reduce((sum, power) => sum + power, 0);
    return powers.map((power) => power / total);
  }
}
