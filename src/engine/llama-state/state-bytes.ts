/** The bytes of a state file, wherever they lie. */
export interface StateBytes {
  readonly sizeBytes: number;
  /** Copies bytes that lie within. */
  copy(offset: number, length: number): Uint8Array<ArrayBuffer>;
}
