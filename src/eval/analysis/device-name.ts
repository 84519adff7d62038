import type { RunRecord } from '../../store/records/run-record.ts';

/** Names the device that evaluated the model; `CPU` for runs of older releases, which supported no other. */
export function deviceName({ compute }: Pick<RunRecord['environment'], 'compute'>): string {
  if (compute === null) return 'unknown';
  if (compute === undefined || compute.backend === 'cpu') return 'CPU';
  return `${compute.backend} on ${compute.devices.join(' and ')}, ${compute.layers} layers`;
}
