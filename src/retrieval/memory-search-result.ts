/** A retrieved memory. */
export interface MemorySearchResult {
  readonly memoryId: string;
  readonly content: string;
  /** Cosine of query and memory, from −1 to 1. */
  readonly score: number;
  /** Metadata that it was added with: `createdAt`, `preference`, `value` and so on, and its `userId`. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** File and section in which the strategy keeps it, `user/preferences.md#Editor`, where it has files. */
  readonly path?: string;
}
