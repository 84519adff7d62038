import { basename } from 'node:path';
import { deviceName } from '../../eval/analysis/device-name.ts';
import { formatNumber } from '../../render/format-number.ts';
import type { DatasetPart } from '../../store/records/run-description.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import { modelSize } from '../verdict-sentences.ts';

const bytes = (value: number): string =>
  value >= 2 ** 30 ? `${formatNumber(value / 2 ** 30, 1)} GiB` : `${formatNumber(value / 2 ** 20, 0)} MiB`;
const seconds = (ms: number): string => `${formatNumber(ms / 1000, 1)} s`;

const labels: Readonly<Record<string, string>> = {
  llm: 'engine',
  gitDirty: 'uncommitted changes',
  memoryBytes: 'memory',
  kvBytes: 'stored KV per user',
};

/** Settings with paths. Only file names are shown, since folders differ between machines. */
const paths = new Set(['dataset', 'errata', 'kvStore', 'externalKv', 'trace']);

/** A JSON value as text: `flashAttention false, kvType F16`. */
function valueText(value: unknown, key = ''): string {
  if (value === null || value === undefined) return 'unknown';
  if (Array.isArray(value)) return value.map((part) => valueText(part, key)).join(', ');
  if (typeof value === 'string') return paths.has(key) ? basename(value) : value;
  if (typeof value === 'number' && (key === 'memoryBytes' || key === 'kvBytes')) return bytes(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, part]) => `${name} ${valueText(part)}`)
    .join(', ');
}

/** A fact about the runs; each of its values names the suites that have it. */
export type Fact = ReturnType<typeof fact>;

function fact(label: string, runs: readonly RunResults[], read: (results: RunResults) => string | undefined) {
  const byValue = Map.groupBy(runs, read);
  const values = [...byValue].flatMap(([value, having]) =>
    value === undefined ? [] : [{ value, suites: having.map(({ run }) => run.suite) }],
  );
  return { label, values };
}

function factPerKey(runs: readonly RunResults[], part: 'environment' | 'settings', omitted: readonly string[]): Fact[] {
  const keys = new Set(runs.flatMap(({ run }) => Object.keys(run[part])));
  for (const key of omitted) keys.delete(key);
  return [...keys].map((key) => {
    // contextTokens becomes `context tokens`.
    const label = labels[key] ?? key.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
    return fact(label, runs, ({ run }) => (run[part][key] === undefined ? undefined : valueText(run[part][key], key)));
  });
}

export function environmentFacts(runs: readonly RunResults[]): Fact[] {
  const dataset = ({ name, items, users, sha256 }: Omit<DatasetPart, 'language'>) =>
    `${name}, ${items} items of ${users} users, sha256 ${sha256}`;
  const readers: Readonly<Record<string, (run: RunResults['run']) => string>> = {
    model: ({ model }) =>
      `${model.name}, ${modelSize(model)}, window of ${model.contextTokens} tokens, sha256 ${model.sha256}`,
    embedder: ({ embedder: { name, runtime, sha256 } }) =>
      `${name}${runtime === undefined ? '' : ` on ${runtime}`}, sha256 ${sha256}`,
    retriever: ({ retriever }) => `${retriever.name} on ${retriever.backend} ${retriever.version}`,
    data: (run) => (run.dataset.parts ?? [run.dataset]).map(dataset).join('; '),
    tokenisation: ({ tokenisation }) =>
      `${tokenisation.differing} of ${tokenisation.tokens} ids differ from the joined text`,
    'computed by': ({ environment }) => deviceName(environment),
  };
  return [
    ...Object.entries(readers).map(([label, read]) => fact(label, runs, ({ run }) => read(run))),
    ...factPerKey(runs, 'environment', ['compute']),
    fact('started', runs, ({ run }) => run.startedAt),
    fact('wall time', runs, ({ run: { profile } }) => {
      const { wallMs, modelMs, embedderMs } = profile;
      const parts = `${seconds(modelMs)} in the model and ${seconds(embedderMs)} in the embedder`;
      const isSum = modelMs + embedderMs > wallMs;
      return `${seconds(wallMs)}${isSum ? '; over all processes' : ', including'} ${parts}`;
    }),
  ];
}

export function settingsFacts(runs: readonly RunResults[]): Fact[] {
  const armsNotRun = ({ run }: RunResults) => run.armsNotRun.map(({ arm, why }) => `${arm}: ${why}`).join('; ');
  const notRun = fact('arms not run', runs, (results) => armsNotRun(results) || undefined);
  return [...factPerKey(runs, 'settings', ['suite', 'model']), ...(notRun.values.length === 0 ? [] : [notRun])];
}
