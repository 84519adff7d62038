import { type BenchConfig, type EngineChoice, engineOptionNames, enginePlaceNames } from '../config/bench-config.ts';
import { BenchError } from '../base/bench-error.ts';
import { flagName } from '../config/flags-from-schema.ts';
import { adapterNamed, adapters } from '../engine/adapters.ts';
import type { SelectEngine, EngineOpener } from '../engine/engine-adapter.ts';
import type { Engine } from '../engine/engine.ts';

export { adapterNamed, adapters };

const engineNames = adapters.map(({ name }) => name);

/** Selects the adapter of an engine and gives it its options. @throws BenchError `bad-option` for an unknown engine, or an option it lacks */
export function selectEngine(choice: EngineChoice = {}): EngineOpener {
  const adapter = adapterNamed(choice.engine ?? engineNames[0]!);
  const isSupported = (key: string): boolean => key in adapter.options.shape;
  const unsupported = engineOptionNames.find((key) => choice.given?.includes(key) === true && !isSupported(key));
  const supported = engineOptionNames.filter(isSupported);
  if (unsupported !== undefined) {
    const flags = supported.map(flagName).join(', ');
    throw new BenchError(
      'bad-option',
      `${flagName(unsupported)}: the engine ${adapter.name} has no such option`,
      flags === '' ? 'drop it' : `it has ${flags}`,
    );
  }
  const options = supported.flatMap((key) => (choice[key] === undefined ? [] : [[key, choice[key]]]));
  return adapter.opener(adapter.options.parse(Object.fromEntries(options)));
}

/** Selects the engine of each stored run, unless `--engine` overrides it. */
export function selectEngineForRuns(
  config: Pick<BenchConfig, 'engine' | 'given' | (typeof enginePlaceNames)[number]>,
): SelectEngine {
  const { engine, given } = config;
  const places = Object.fromEntries(enginePlaceNames.flatMap((key) => (key in config ? [[key, config[key]]] : [])));
  return (choice) =>
    selectEngine({ ...choice, ...places, engine: given.includes('engine') ? engine : (choice.engine ?? engine) });
}

export function openConfiguredEngine(engines: EngineOpener, config: BenchConfig): Promise<Engine> {
  const { model, contextTokens, threads } = config;
  return engines.open({ model, contextTokens, threads });
}
