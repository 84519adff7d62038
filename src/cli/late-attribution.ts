import type { BenchConfig } from '../config/bench-config.ts';
import type { AttributionPort } from '../viewer/attribution/attribution-port.ts';
import type { AttributionRecord } from '../store/records/attribution-record.ts';
import type { AttributionService } from './attribution-service.ts';

/** Computes attributions for a viewer that starts at once: the modules that run models are loaded at the first one. */
export class LateAttribution implements AttributionPort, AsyncDisposable {
  readonly #config: Pick<BenchConfig, 'db' | 'model' | 'engine' | 'given'>;
  #service: Promise<AttributionService> | undefined;

  constructor(config: Pick<BenchConfig, 'db' | 'model' | 'engine' | 'given'>) {
    this.#config = config;
  }

  async compute(...request: Parameters<AttributionPort['compute']>): Promise<AttributionRecord> {
    this.#service ??= this.#open();
    return (await this.#service).compute(...request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#service)?.[Symbol.asyncDispose]();
  }

  async #open(): Promise<AttributionService> {
    const [{ AttributionService }, { composeForRuns }] = await Promise.all([
      import('./attribution-service.ts'),
      import('../bench/compose.ts'),
    ]);
    return new AttributionService(this.#config, composeForRuns(this.#config));
  }
}
