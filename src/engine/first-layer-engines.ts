import type { Engine, FirstLayersOptions } from './engine.ts';

export type FirstLayerEngines = ReturnType<typeof firstLayerEngines>;

/**
 * Opened engines of a model's first layers: one per number of layers and options, all closed together.
 * @param most number of layers of the model
 * @param openEngine called once per number and options; again after a failure
 */
export function firstLayerEngines(
  most: number,
  openEngine: (layers: number, options: Pick<FirstLayersOptions, 'queries'>) => Promise<Engine>,
) {
  const engines = new Map<string, Promise<Engine>>();
  return {
    async open(layers: number, options: FirstLayersOptions = {}): Promise<Engine> {
      if (!Number.isInteger(layers) || layers < 1 || layers > most) {
        throw new RangeError(`${layers} layers, expected 1 to ${most}`);
      }
      const kind = JSON.stringify([layers, options.queries === true]);
      const { queries = false, signal } = options;
      let opening = engines.get(kind);
      if (opening === undefined) {
        // Without the signal: other callers may wait for the same engine.
        opening = openEngine(layers, { queries }).catch((error: unknown) => {
          engines.delete(kind);
          throw error;
        });
        engines.set(kind, opening);
      }
      const engine = await opening;
      signal?.throwIfAborted();
      return engine;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      const opened = await Promise.allSettled(engines.values());
      engines.clear();
      for (const one of opened) if (one.status === 'fulfilled') await one.value[Symbol.asyncDispose]();
    },
  };
}
