/** A memory to add. An id is unique within its user. */
export interface NewMemory {
  readonly memoryId: string;
  readonly content: string;
  /** Of the embedding service's dimension and any length but zero; made from the content where not given. */
  readonly embedding?: Float32Array | undefined;
  /** What is known of it: `createdAt` (ISO 8601), `preference`, `value`, and what a strategy looks for. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** A memory without a user stands in a namespace of its own. */
  readonly userId?: string | undefined;
}
