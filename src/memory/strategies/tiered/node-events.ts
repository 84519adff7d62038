/** What a node of a workflow tells while it works. */
export type NodeEvent = {
  readonly nodeId: string;
  /** ISO 8601. */
  readonly timestamp: string;
} & (
  | { readonly type: 'node_state_change'; readonly data: { readonly status: 'running' | 'completed' } }
  | { readonly type: 'memory_retrieval_error'; readonly data: { readonly error: string } }
);

/** Takes events as they happen. */
export interface NodeEventStream {
  send(event: NodeEvent): void;
}

/** Takes events nobody follows. */
export const noEvents: NodeEventStream = { send: () => undefined };
