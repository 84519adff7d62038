import { BenchError } from '../../../config/bench-error.ts';
import { formatHistorySummary } from './history-summary.ts';
import type { NodeEvent, NodeEventStream } from './node-events.ts';
import type { TieredMemory, TieredResult } from './tiered-memory.ts';

/** What the engine tells a node beside its input. */
export interface NodeContext {
  readonly nodeId: string;
  readonly now: Date;
  /** As `TieredQuery`. */
  readonly limit: number;
  readonly threshold: number;
}

/** A step of a workflow: a record in, a record out, events on the way. @see seed 001, "NodeProcessor" */
export interface NodeProcessor {
  process(
    context: NodeContext,
    input: Readonly<Record<string, unknown>>,
    stream: NodeEventStream,
  ): Promise<Readonly<Record<string, unknown>>>;
}

/** What processing one record came to. */
export type NodeRun =
  | { readonly state: 'completed'; readonly output: Readonly<Record<string, unknown>>; readonly result: TieredResult }
  | { readonly state: 'failed'; readonly output: Readonly<Record<string, unknown>>; readonly error: BenchError };

/**
 * Adds what is remembered to a record: looks for its `topic`, else its `content`, else its `document`, among the
 * memories of its `group_id`, and puts a summary under `history_context`. Where a store fails it says so on the stream,
 * and the record comes back as it was.
 * @see seed 001, "MemoryRetrievalProcessor"
 */
export class MemoryRetrievalProcessor implements NodeProcessor {
  readonly #memory: TieredMemory;

  constructor(memory: TieredMemory) {
    this.#memory = memory;
  }

  async process(
    context: NodeContext,
    input: Readonly<Record<string, unknown>>,
    stream: NodeEventStream,
  ): Promise<Readonly<Record<string, unknown>>> {
    return (await this.run(context, input, stream)).output;
  }

  /** As `process`, with what was found. */
  async run(
    { nodeId, ...limits }: NodeContext,
    input: Readonly<Record<string, unknown>>,
    stream: NodeEventStream,
  ): Promise<NodeRun> {
    const send = (event: Pick<NodeEvent, 'type' | 'data'>): void =>
      stream.send({ ...event, nodeId, timestamp: new Date().toISOString() } as NodeEvent);
    send({ type: 'node_state_change', data: { status: 'running' } });
    try {
      const query = textOf(input, 'topic') || textOf(input, 'content') || textOf(input, 'document');
      const result = await this.#memory.retrieve(textOf(input, 'group_id'), { query, ...limits });
      const output = { ...input, history_context: formatHistorySummary(result.items) };
      send({ type: 'node_state_change', data: { status: 'completed' } });
      return { state: 'completed', output, result };
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      send({ type: 'memory_retrieval_error', data: { error: error.message } });
      return { state: 'failed', output: input, error };
    }
  }
}

/** A field of a record that somebody else made: nothing where it is no text. */
function textOf(input: Readonly<Record<string, unknown>>, field: string): string {
  const value = input[field];
  return typeof value === 'string' ? value : '';
}
