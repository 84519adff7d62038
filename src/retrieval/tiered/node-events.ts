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
