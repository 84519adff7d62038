import { type BenchConfig, type EngineChoice, engineOptionNames, enginePlaceNames } from '../config/bench-config.ts';
import { BenchError } from '../base/bench-error.ts';
import { flagName } from '../config/flags-from-schema.ts';
import { adapterNamed, adapters } from '../engine/adapters.ts';
import type { ComposeEngine, EngineOpener } from '../engine/engine-adapter.ts';
import type { Engine } from '../engine/engine.ts';

export { adapterNamed, adapters };

const engineNames = adapters.map(({ name }) => name);

/** Chooses the engine: the one place that does. @throws BenchError `bad-option` for its name or a foreign option */
export function composeEngine(choice: EngineChoice = {}): EngineOpener {
  const adapter = adapterNamed(choice.engine ?? engineNames[0]!);
  const isOwn = (key: string): boolean => key in adapter.options.shape;
  const foreign = engineOptionNames.find((key) => choice.given?.includes(key) === true && !isOwn(key));
  if (foreign !== undefined) {
    const own = engineOptionNames.filter(isOwn).map(flagName).join(', ');
    throw new BenchError(
      'bad-option',
      `${flagName(foreign)}: the engine ${adapter.name} has no such option`,
      own === '' ? 'drop it' : `it has ${own}`,
    );
  }
  const own = engineOptionNames.flatMap((key) => (isOwn(key) && choice[key] !== undefined ? [[key, choice[key]]] : []));
  return adapter.opener(adapter.options.parse(Object.fromEntries(own)));
}

/** Chooses engines by the settings of stored runs; one that was named takes the place of the run's own. */
export function composeEngineForRuns(
  config: Pick<BenchConfig, 'engine' | 'given' | (typeof enginePlaceNames)[number]>,
): ComposeEngine {
  const { engine, given } = config;
  const places = Object.fromEntries(enginePlaceNames.flatMap((key) => (key in config ? [[key, config[key]]] : [])));
  return (choice) =>
    composeEngine({ ...choice, ...places, engine: given.includes('engine') ? engine : (choice.engine ?? engine) });
}

export function openConfiguredEngine(
  engines: EngineOpener,
  { model, contextTokens, threads }: BenchConfig,
): Promise<Engine> {
  return engines.open({
    model,
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...(threads === undefined ? {} : { threads }),
  });
}
