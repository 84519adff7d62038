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
    async open(layers: number, { queries = false, signal }: FirstLayersOptions = {}): Promise<Engine> {
      if (!Number.isInteger(layers) || layers < 1 || layers > most) {
        throw new RangeError(`${layers} layers, expected 1 to ${most}`);
      }
      const kind = `${layers} ${queries}`;
      // Without the signal: other callers may wait for the same engine.
      const opening = engines.get(kind) ?? openEngine(layers, { queries });
      engines.set(kind, opening);
      const engine = await opening.catch((error: unknown) => {
        engines.delete(kind);
        throw error;
      });
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
