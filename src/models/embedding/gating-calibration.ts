import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { BenchError } from '../../base/bench-error.ts';

const calibrationSchema = z.object({ embedderSha256: z.string(), gatingThreshold: z.number().min(-1).max(1) });

/** Relevance above which the dual-factor gate injects, and the embedder that it was calibrated for. */
export type GatingCalibration = Readonly<z.output<typeof calibrationSchema>>;

/**
 * Reads the calibration from `card.json` in an embedder's folder; undefined if there is no card.
 * @throws BenchError `bad-model` for a card that cannot be read
 */
export function readGatingCalibration(embedderFolder: string): GatingCalibration | undefined {
  const path = join(embedderFolder, 'card.json');
  if (!existsSync(path)) return undefined;
  try {
    return calibrationSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new BenchError(
      'bad-model',
      `${path}: not the card of an embedder: it needs embedderSha256 and gatingThreshold, a number from -1 to 1`,
      'write it again: npx tsx scripts/models/calibrate-gating.ts, or delete it',
      cause,
    );
  }
}

/** Checks that a calibration belongs to an embedder. @throws BenchError `bad-model` if it was made for other weights */
export function requireCalibrationFor(
  { embedderSha256 }: GatingCalibration,
  embedder: { readonly name: string; readonly sha256: string },
): void {
  if (embedderSha256 === embedder.sha256) return;
  throw new BenchError(
    'bad-model',
    `card.json of ${embedder.name}: its gating threshold was calibrated for another embedder`,
    'calibrate it again: npx tsx scripts/models/calibrate-gating.ts',
  );
}
