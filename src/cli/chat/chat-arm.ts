import type { BenchConfig } from '../../config/bench-config.ts';
import { BenchError } from '../../config/bench-error.ts';
import { armNames, armSettingsHelp, isArmName, parseArmName } from '../../config/arm-name.ts';
import { didYouMean } from '../../config/nearest-name.ts';
import { gatingCalibrationOf, requireCalibrationFor } from '../../embedding/gating-threshold.ts';
import { type Arm, armsNamed, type ItemView } from '../../eval/run/arms.ts';
import { requireAbility } from '../../eval/run/model-ability.ts';
import type { BenchParts } from '../../eval/run/open-bench.ts';
import { PAPER_RELEVANCE_THRESHOLD } from '../../systems/dki/dual-factor-gate.ts';
import type { UserMemories } from './user-memories.ts';

/** Arms that are given what only a data set knows. */
const needsDataset: readonly string[] = ['oracle', 'dki-wrong'];

/** @throws BenchError `bad-option` for a name that no arm has, and for an arm that cannot chat */
export function chatArm(name: string, { alpha, embedder }: Pick<BenchConfig, 'alpha' | 'embedder'>): Arm {
  const known = armNames.filter((candidate) => !needsDataset.includes(candidate));
  const hint = `choose among ${known.join(', ')}; each may have ${armSettingsHelp}`;
  if (!isArmName(name)) throw new BenchError('bad-option', `there is no arm "${name}"${didYouMean(name, known)}`, hint);
  if (needsDataset.includes(baseOf(name))) {
    const why = "it is given what only a data set knows: evidence, or another user's memories";
    throw new BenchError('bad-option', `arm ${name} cannot chat: ${why}`, hint);
  }
  const gatingThreshold = gatingCalibrationOf(embedder)?.gatingThreshold ?? PAPER_RELEVANCE_THRESHOLD;
  return armsNamed([name], { alpha, gatingThreshold })[0]!;
}

/** @throws BenchError `bad-model` where the model cannot run the arm, or the gate's threshold is another embedder's */
export async function requireUsable(
  arm: Arm,
  { model, embeddings }: BenchParts,
  config: Pick<BenchConfig, 'template' | 'embedder'>,
): Promise<void> {
  requireAbility(model.info.path, model.info, [arm], config);
  const calibration = baseOf(arm.name) === 'dki-gated' ? gatingCalibrationOf(config.embedder) : undefined;
  if (calibration !== undefined) requireCalibrationFor(calibration, await embeddings.info());
}

function baseOf(name: string): string {
  return parseArmName(name)?.base ?? '';
}

/** What an arm may know in a chat: what is recalled for the user, and all that the user has told. */
export function chatView(memories: UserMemories): ItemView {
  const recall = { search: memories.recall.bind(memories) };
  return { recall, all: () => memories.list(), evidence: () => [], donated: recall };
}
