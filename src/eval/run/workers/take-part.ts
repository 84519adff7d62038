import { RunRepository } from '../../../store/run-repository.ts';
import type { ComposeEngine } from '../../../engine/engine-request.ts';
import type { CellsSelfTest } from '../../../store/records/run-probes.ts';
import { askUsers } from '../ask-users.ts';
import { openBench } from '../open-bench.ts';
import { openRuns } from '../open-runs.ts';
import { prepareSuite } from '../prepared-suite.ts';
import { placeOfWorker } from '../process-place.ts';
import type { Suite } from '../suite.ts';
import type { WorkerEvents, WorkerTask } from './worker-port.ts';

/** Calls that tell how a worker comes on, and the one thing that it waits for. */
export interface TakingPart extends WorkerEvents {
  /** Resolves when the self-tests of the run have passed. */
  readonly begun: Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Takes turns of a run that another process makes: loads the same model and data, claims users, and ends when nobody is left.
 * @throws BenchError where models or data are not those of the run; the reason of the signal
 */
export async function takePart(
  { run: id, folder, number, worker, config }: WorkerTask,
  suite: Suite,
  compose: ComposeEngine,
  { begun, onTurn, onUser, signal }: TakingPart,
): Promise<void> {
  // One process serves them: the one that makes the run.
  const { eventsPort: _, ...settings } = config;
  using database = openRuns(settings);
  const runs = new RunRepository(database);
  const asked = { suite, begun: runs.findById(id)!, folder, settings, engines: compose(settings), isMade: true };
  await using prepared = await prepareSuite({ ...asked, place: placeOfWorker(folder, number) }, { signal });
  await using open = await openBench(prepared, database, asked.begun, { worker, judge: undefined });
  const selfTested = async (): Promise<CellsSelfTest | undefined> => {
    await begun;
    signal.throwIfAborted();
    return runs.findById(id)!.probes!.cells;
  };
  await askUsers(open.bench, selfTested, { onTurn, onUser: async () => onUser(), signal, warmsUp: true });
}
