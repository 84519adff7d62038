import type { GateNotRun, GateResult } from '../results.ts';
import { controls } from './controls.ts';
import { errors } from './errors.ts';
import type { Gate, GateInput } from './gate.ts';
import { identity } from './identity.ts';
import { isolation } from './isolation.ts';
import { liveFlags } from './live-flags.ts';
import { materialisation } from './materialisation.ts';
import { parity } from './parity.ts';

/** The self-test of the metrics ran before the first turn; its result is the gate. */
const metrics: Gate = ({ probes }) => probes.metrics;

const GATES: readonly Gate[] = [identity, materialisation, parity, controls, isolation, metrics, liveFlags, errors];

/** Decides every gate that these turns can decide, and says of the others why not. */
export function judge(input: GateInput): { gates: GateResult[]; gatesNotRun: GateNotRun[] } {
  const outcomes = GATES.map((gate) => gate(input));
  return {
    gates: outcomes.filter((outcome): outcome is GateResult => 'held' in outcome),
    gatesNotRun: outcomes.filter((outcome): outcome is GateNotRun => 'why' in outcome),
  };
}
