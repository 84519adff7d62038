import type { RunResults } from '../../store/records/results.ts';
import { type RunRecord, runRecord } from '../../store/records/run-record.ts';
import { schemaVersion } from '../../store/records/schemas.ts';
import { readRecord } from '../../store/read-record.ts';

/**
 * The record of a run as its results tell it: without the probes, which no page of a report shows.
 * @param place the file, for messages
 * @throws BenchError `database` for results that another release wrote
 */
export function runOfReport({ run, arms }: RunResults, place: string): RunRecord {
  const { id, name, suite, seed, status, startedAt, finishedAt, settings, environment, armsNotRun, metrics } = run;
  const { model, embedder, dataset, retriever } = run;
  const plan = {
    arms: arms.map(({ traits }) => traits),
    armsNotRun,
    ...(metrics === undefined ? {} : { metrics }),
    settings,
  };
  return readRecord(
    runRecord,
    {
      ...{ schemaVersion, id, name, suite, status, seed, plan, environment, model, embedder, dataset, retriever },
      probes: null,
      startedAt: Date.parse(startedAt),
      finishedAt: finishedAt === null ? null : Date.parse(finishedAt),
    },
    place,
  );
}
