import { BenchError } from '../../config/bench-error.ts';
import { didYouMean } from '../../config/nearest-name.ts';
import type { DatasetGenerator, ModelRoom } from '../synthesis/dataset-generator.ts';
import { generators } from '../synthesis/generators.ts';
import { verifyDataset, type Verification } from './verify/verify-dataset.ts';
import { writeText } from './write-lines.ts';

/**
 * The generator of a data set, or the one that a suite has.
 * @throws BenchError `bad-option` on an unknown name, or a suite that makes several
 */
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

/** Writes a data set by seed, the same bytes for the same seed, number of users and model, and examines what was written. */
export async function makeDataset(
  generator: DatasetGenerator,
  {
    seed,
    users,
    out,
    room,
  }: { readonly seed: number; readonly users: number; readonly out: string; readonly room: ModelRoom },
): Promise<Verification> {
  await writeText(out, generator.make(seed, users, room));
  return verifyDataset(out);
}
