/** The last argument of every call of the port. */
export interface CallOptions {
  /** Cancels the call: it rejects with the signal's reason, unless its method says otherwise. */
  readonly signal?: AbortSignal | undefined;
}
