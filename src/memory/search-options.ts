import { BenchError } from '../config/bench-error.ts';

/** @throws BenchError `bad-option` where `topK` is no whole number from 0, or `threshold` no number */
export function checkSearch(topK: number, threshold: number): void {
  if (!Number.isInteger(topK) || topK < 0) {
    throw new BenchError('bad-option', `topK is ${topK}`, 'give a whole number from 0');
  }
  if (Number.isNaN(threshold)) {
    throw new BenchError('bad-option', 'the similarity threshold is no number', 'give one from -1 to 1');
  }
}
