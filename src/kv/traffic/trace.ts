/** Tokens of a prompt whose KV may come back in other prompts, such as one memory line. */
export interface TraceSegment {
  /** The same id with the same user means the same tokens. */
  readonly id: string;
  readonly tokens: number;
}

/** A turn of recorded or generated traffic: what its prompt consists of, without its text. */
export interface TraceTurn {
  /** Arrival, in ms after the first turn. */
  readonly atMs: number;
  readonly userId: string;
  /** Turns of one conversation follow each other. */
  readonly conversationId: string;
  /** In the order in which they stand in the prompt, behind the tokens that all prompts begin with. */
  readonly segments: readonly TraceSegment[];
  /** Tokens behind the segments that never come back: history and question. */
  readonly queryTokens: number;
  readonly answerTokens: number;
}

/** Traffic, earliest turn first. */
export interface Trace {
  readonly name: string;
  /** Tokens that all prompts of all users begin with, such as the system text. */
  readonly headerTokens: number;
  /**
   * `text`: a segment is the same text wherever it stands, so that its KV block can be joined to any others. `prefix`: its id stands
   * for all tokens up to its end, so that the trace does not say which blocks come back.
   */
  readonly idsOf: 'text' | 'prefix';
  readonly turns: readonly TraceTurn[];
}
