import { BenchError } from '../base/bench-error.ts';

/** Checks the options of a search. @throws BenchError `bad-option` if `topK` is not a whole number from 0, or `threshold` is NaN */
export function checkSearch(topK: number, threshold: number): void {
  if (!Number.isInteger(topK) || topK < 0) {
    throw new BenchError('bad-option', `topK is ${topK}`, 'give a whole number from 0');
  }
  if (Number.isNaN(threshold)) {
    throw new BenchError('bad-option', 'the similarity threshold is not a number', 'give one from -1 to 1');
  }
}
