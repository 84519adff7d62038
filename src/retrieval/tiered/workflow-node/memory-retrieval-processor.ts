import { formatHistorySummary } from '../../format-history-summary.ts';
import type { TieredMemory, TieredQuery } from '../tiered-memory.ts';

/** Context that the workflow engine gives a node besides its input. */
export interface NodeContext extends Omit<TieredQuery, 'query'> {
  readonly nodeId: string;
}

/** Port of a workflow step: a record in, a record out, events in between. */
export interface NodeProcessor {
  /** Runs the step, reports its progress to the stream, and returns the output record. */
  process(
    context: NodeContext,
    input: Readonly<Record<string, unknown>>,
    stream: NodeEventStream,
  ): Promise<Readonly<Record<string, unknown>>>;
}

/**
 * Adds retrieved memories to a record: searches the memories of its `group_id` for its `topic`, else `content`, else `document`,
 * and puts a summary under `history_context`. A failure sends an error event, sets the state `failed`, and leaves the record
 * unchanged.
 */
export class MemoryRetrievalProcessor implements NodeProcessor {
  readonly #memory: TieredMemory;

  constructor(memory: TieredMemory) {
    this.#memory = memory;
  }

  /** Returns the record with `history_context`, or unchanged after a failure, which is only an event. */
  async process(context: NodeContext, input: Readonly<Record<string, unknown>>, stream: NodeEventStream) {
    return (await this.run(context, input, stream)).output;
  }

  /** Processes a record as `process` does, and returns the retrieved memories too, or the error. */
  async run({ nodeId, ...limits }: NodeContext, input: Readonly<Record<string, unknown>>, stream: NodeEventStream) {
    const send = (event: Pick<NodeEvent, 'type' | 'data'>): void =>
      stream.send({ ...event, nodeId, timestamp: new Date().toISOString() } as NodeEvent);
    // Records come from other programs: a field that is not a string counts as empty.
    const read = (field: string): string => (typeof input[field] === 'string' ? input[field] : '');
    send({ type: 'node_state_change', data: { status: 'running' } });
    try {
      const query = read('topic') || read('content') || read('document');
      const result = await this.#memory.retrieve(read('group_id'), { query, ...limits });
      const output = { ...input, history_context: formatHistorySummary(result.items) };
      send({ type: 'node_state_change', data: { status: 'completed' } });
      return { output, result };
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      send({ type: 'memory_retrieval_error', data: { error: error.message } });
      send({ type: 'node_state_change', data: { status: 'failed' } });
      return { output: input, error };
    }
  }
}

/** Event of a workflow node. */
export type NodeEvent = {
  readonly nodeId: string;
  /** ISO 8601. */
  readonly timestamp: string;
} & (
  | { readonly type: 'node_state_change'; readonly data: { readonly status: 'running' | 'completed' | 'failed' } }
  | { readonly type: 'memory_retrieval_error'; readonly data: { readonly error: string } }
);

/** Port to a receiver of events. */
export interface NodeEventStream {
  /** Takes one event; must not wait, and must not throw. */
  send(event: NodeEvent): void;
}

/** Discards events. */
export const noEvents: NodeEventStream = { send: () => undefined };
