import type { DatasetGenerator, ContextWindow } from './generators/dataset-generator.ts';
import { verifyDataset, type Verification } from './verify/verify-dataset.ts';
import { writeText } from './write-lines.ts';

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
