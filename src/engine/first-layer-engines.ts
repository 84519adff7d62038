import type { Engine, FirstLayersOptions } from './engine.ts';

/** Opened engines of a model's first layers: one per number of layers and options, all closed together. */
export class FirstLayerEngines implements AsyncDisposable {
  readonly #most: number;
  readonly #open: (layers: number, options: FirstLayersOptions) => Promise<Engine>;
  readonly #engines = new Map<string, Promise<Engine>>();

  /** @param most number of layers of the model @param open called once per number and options; again after a failure */
  constructor(most: number, open: (layers: number, options: FirstLayersOptions) => Promise<Engine>) {
    this.#most = most;
    this.#open = open;
  }

  async open(layers: number, options: FirstLayersOptions = {}): Promise<Engine> {
    if (!Number.isInteger(layers) || layers < 1 || layers > this.#most) {
      throw new RangeError(`${layers} layers, expected 1 to ${this.#most}`);
    }
    const kind = JSON.stringify([layers, options.queries === true]);
    const opening = this.#engines.get(kind) ?? this.#open(layers, options);
    this.#engines.set(kind, opening);
    try {
      return await opening;
    } catch (error) {
      this.#engines.delete(kind);
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await Promise.allSettled(this.#engines.values());
    this.#engines.clear();
    for (const one of opened) if (one.status === 'fulfilled') await one.value[Symbol.asyncDispose]();
  }
}
