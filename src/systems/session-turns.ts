import type { EngineSession } from '../engine/engine-session.ts';
import { TurnQueue } from './turn-queue.ts';

const queues = new WeakMap<EngineSession, TurnQueue>();

/** The queue of a session: one for all systems that answer in it, since each leaves its own KV there. */
export function turnsIn(session: EngineSession): TurnQueue {
  const queue = queues.get(session) ?? new TurnQueue([undefined]);
  queues.set(session, queue);
  return queue;
}
