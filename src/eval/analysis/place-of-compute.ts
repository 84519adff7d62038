import type { RunRecord } from '../../store/records/run-record.ts';

/** The device that computed the model of a run, in words; `CPU` for runs of before, which knew nothing else. */
export function placeOfCompute({ compute }: Pick<RunRecord['environment'], 'compute'>): string {
  if (compute === null) return 'unknown';
  if (compute === undefined || compute.backend === 'cpu') return 'CPU';
  return `${compute.backend} on ${compute.devices.join(' and ')}, ${compute.layers} layers`;
}
