import type { GatingCalibration } from '../../../models/embedding/gating-threshold.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import { kernelChoice } from '../../../kv/kernels.ts';
import { PAPER_RELEVANCE_THRESHOLD } from '../../../systems/prefill/dual-factor-gate.ts';
import { storesTexts } from '../../analysis/redact.ts';
import type { BenchParts } from '../bench-parts.ts';
import { dataNotes } from './describe-data.ts';
import type { KvFolder } from '../kv-folder.ts';
import type { PreparedSuite } from './prepared-suite.ts';

/** Notes that a reader of a run must see, known before its first turn. */
export function notesBeforeTurns(
  { calibration, dataset, parts, settings, stores }: PreparedSuite,
  run: RunRecord,
): string[] {
  return [
    ...dataNotes(dataset),
    ...processNotes(parts, stores, run),
    ...(calibration === null ? [] : [gatingNote(calibration)]),
    ...(storesTexts(run) ? [] : [NO_TEXTS]),
    ...(settings.alpha === 1 ? [] : [`values of injected memories multiplied by ${settings.alpha} (--alpha)`]),
  ];
}

const NO_TEXTS =
  'no text was stored (--no-text): the viewer shows hashes, attribution cannot replay a turn, and the check ' +
  'negative controls cannot compute chance';

function gatingNote(calibration: GatingCalibration | undefined): string {
  return calibration === undefined
    ? `dki-gated injects above a relevance of ${PAPER_RELEVANCE_THRESHOLD}, the paper's: the embedder has no card`
    : `dki-gated injects above a relevance of ${calibration.gatingThreshold}, of the embedder's card`;
}

/** Notes on the process that takes turns: its build, its work tree, its store. */
function processNotes(parts: BenchParts, stores: KvFolder, { environment: { gitDirty } }: RunRecord): string[] {
  return [
    // Two ways to one FAISS: only where it is another library there is something to say.
    ...(parts.backend.backend.name.startsWith('faiss')
      ? []
      : parts.backend.passedOver.map(({ name, reason }) => `vector backend ${name} passed over: ${reason}`)),
    ...kernelNotes(),
    ...(gitDirty === true ? ['the work tree had changes that are not in the commit'] : []),
    ...(stores.shared
      ? [
          'KV store shared by users and runs (--kv-store): hit rates are not those of a fresh user, ' +
            'and rag-cached, which keeps its list of prompts in memory, starts empty in each process',
        ]
      : []),
  ];
}

function kernelNotes(): string[] {
  const { passedOver } = kernelChoice();
  return passedOver === null ? [] : [`KV blocks moved by WebAssembly, native kernels passed over: ${passedOver}`];
}
