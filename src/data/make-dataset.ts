import { BenchError } from '../base/bench-error.ts';
import { didYouMean } from '../base/nearest-name.ts';
import type { DatasetGenerator, ContextWindow } from './generators/dataset-generator.ts';
import { generators } from './generators/generator-registry.ts';
import { verifyDataset, type Verification } from './verify/verify-dataset.ts';
import { writeText } from './write-lines.ts';

/** Finds a generator by its data set or suite. @throws BenchError `bad-option` for an unknown name, or several data sets */
export function generatorNamed(name: string): DatasetGenerator {
  const named = generators.find((generator) => generator.name === name);
  if (named !== undefined) return named;
  const ofSuite = generators.filter(({ suites }) => suites.includes(name));
  if (ofSuite.length === 1) return ofSuite[0]!;
  const names = generators.map((generator) => generator.name);
  if (ofSuite.length > 1) {
    const message = `suite ${name} makes ${ofSuite.length} data sets`;
    throw new BenchError('bad-option', message, `name one: ${ofSuite.map((generator) => generator.name).join(', ')}`);
  }
  const suites = [...new Set(generators.flatMap((generator) => generator.suites))];
  const message = `unknown data set or suite "${name}"${didYouMean(name, [...names, ...suites])}`;
  throw new BenchError('bad-option', message, `data sets: ${names.join(', ')}; suites: ${suites.join(', ')}`);
}

interface DatasetRequest {
  readonly seed: number;
  readonly users: number;
  readonly out: string;
  readonly window: ContextWindow;
}

/** Generates a data set, writes it and verifies the file. The same seed, users and model give the same bytes. */
export async function makeDataset(
  { make }: DatasetGenerator,
  { seed, users, out, window }: DatasetRequest,
): Promise<Verification> {
  await writeText(out, await make(seed, users, window));
  return verifyDataset(out);
}
