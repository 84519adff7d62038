/** Tokens of a prompt whose KV other prompts may reuse, such as one memory line. */
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
  /** Turns of one conversation run one after another. */
  readonly conversationId: string;
  /** In the order of the prompt, after the tokens that all prompts begin with. */
  readonly segments: readonly TraceSegment[];
  /** Tokens after the segments, which are never reused: history and question. */
  readonly queryTokens: number;
  readonly answerTokens: number;
}

/** Traffic, earliest turn first. */
export interface Trace {
  readonly name: string;
  /** Tokens that all prompts of all users begin with, such as the system text. */
  readonly headerTokens: number;
  /**
   * `text`: a segment is the same text at any place, so its KV block can be joined with any others. `prefix`: its id
   * stands for all tokens up to its end, so the trace does not tell which blocks are reused.
   */
  readonly idsOf: 'text' | 'prefix';
  readonly turns: readonly TraceTurn[];
}
