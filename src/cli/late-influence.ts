import type { BenchConfig } from '../config/bench-config.ts';
import type { Influence, InfluencePort } from '../inspect/influence-port.ts';
import type { InfluenceService } from './influence-port.ts';

/** Computes influences for a viewer that starts at once: what brings the language model along is loaded when it is asked. */
export class LateInfluence implements InfluencePort, AsyncDisposable {
  readonly #config: Pick<BenchConfig, 'db' | 'model'>;
  #service: Promise<InfluenceService> | undefined;

  constructor(config: Pick<BenchConfig, 'db' | 'model'>) {
    this.#config = config;
  }

  async compute(...request: Parameters<InfluencePort['compute']>): Promise<Influence> {
    this.#service ??= import('./influence-port.ts').then(({ InfluenceService }) => new InfluenceService(this.#config));
    return (await this.#service).compute(...request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#service)?.[Symbol.asyncDispose]();
  }
}
