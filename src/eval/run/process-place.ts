import { join } from 'node:path';

/** A place where a process that works on a run keeps what no other may touch. */
export interface ProcessPlace {
  /** For K/V and for the files of the retriever. */
  readonly folder: string;
  /** Behind the id of the run: names what the process keeps in stores that several processes use. */
  readonly suffix: string;
}

/** The place of the process that makes a run. @param folder of the run's report */
export function placeOfRun(folder: string): ProcessPlace {
  return { folder, suffix: '' };
}

/** The folder of all workers of a run, which goes with them. */
export function folderOfWorkers(folder: string): string {
  return join(folder, 'workers');
}

/** The place of a worker. @param number from 2 on: the process that makes the run is the first */
export function placeOfWorker(folder: string, number: number): ProcessPlace {
  return { folder: join(folderOfWorkers(folder), String(number)), suffix: `/worker-${number}` };
}
