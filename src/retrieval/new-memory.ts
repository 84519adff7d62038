/** A memory to add; its id is unique for its user. */
export interface NewMemory {
  readonly memoryId: string;
  readonly content: string;
  /** Vector of the embedding service's dimension, of any length. Default: the embedding of the content. */
  readonly embedding?: Float32Array | undefined;
  /** Such as `createdAt` (ISO 8601), `preference`, `value`, and fields that a strategy reads. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Memories without a user have a namespace of their own. */
  readonly userId?: string | undefined;
}
