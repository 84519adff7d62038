import type { Command } from 'commander';
import type { BenchConfig } from '../config/bench-config.ts';
import { BenchError } from '../config/bench-error.ts';
import { loadBenchConfig } from '../config/load-config.ts';
import { withFetchedModels } from '../eval/run/fetch-models.ts';
import { printable, printableJson } from '../report/render/printable.ts';
import { coloured, type Page } from '../report/render/terminal.ts';
import { padText, wrapText } from '../report/render/text-width.ts';
import { addConfigOptions } from './config-options.ts';
import { exitCodes } from './failure.ts';
import { type Check, checks, examine, type Finding } from './machine-checks.ts';
import { abilitiesText, type ModelAbilities, modelAbilities } from './model-abilities.ts';
import { pageOf } from './page.ts';
import { ProgressDisplay } from './progress.ts';

const marks = { works: ['✓', 'green'], warning: ['!', 'yellow'], fails: ['✗', 'red'] } as const;
const indent = 13;

/** Declares `doctor`. */
export function declareDoctor(command: Command): void {
  command.description('say what works on this machine, what a model can run, what does not, and what to do');
  addConfigOptions(command, [
    'dataset',
    'model',
    'embedder',
    'template',
    'contextTokens',
    'threads',
    'out',
    'json',
  ]).action(async (flags: Readonly<Record<string, unknown>>) => {
    process.exitCode = await doctor(flags);
  });
}

async function doctor(flags: Readonly<Record<string, unknown>>): Promise<number> {
  const config = await fetched(loadBenchConfig({ flags }));
  const page = pageOf(process.stdout);
  const findings: (Finding & Pick<Check, 'name'>)[] = [];
  for (const check of checks) {
    const finding = await examine(check, config);
    findings.push({ name: check.name, ...finding });
    if (!config.json) process.stdout.write(lineOf(check.name, finding, page));
  }
  const able = findings.every(({ state }) => state !== 'fails');
  const abilities = await abilitiesOf(config);
  if (config.json) process.stdout.write(printableJson({ able, checks: findings, model: abilities ?? null }));
  else {
    if (abilities !== undefined) process.stdout.write(`\n${abilitiesText(abilities, page)}`);
    process.stdout.write(able ? '\nThe bench can run: npm run bench\n' : '\nThe bench cannot run yet.\n');
  }
  return able ? exitCodes.ok : exitCodes.gateFailed;
}

/** The configuration with the models of the hub on this machine. */
async function fetched(config: BenchConfig): Promise<BenchConfig> {
  using display = config.json ? undefined : new ProgressDisplay(process.stderr);
  return await withFetchedModels(config, { onProgress: display?.showDownload });
}

/** Undefined where the model cannot be read, which its check has said. */
async function abilitiesOf(config: BenchConfig): Promise<ModelAbilities | undefined> {
  try {
    return await modelAbilities(config);
  } catch (error) {
    if (error instanceof BenchError) return undefined;
    throw error;
  }
}

function lineOf(name: string, { state, found, advice }: Finding, page: Page): string {
  const [mark, colour] = marks[state];
  const told = (text: string) =>
    wrapText(printable(text), page.width - indent).map((line) => ' '.repeat(indent) + line);
  const [first = '', ...rest] = told(found);
  const lines = [...rest, ...(advice === undefined ? [] : told(`→ ${advice}`))];
  const head = `${coloured(mark, colour, page)} ${padText(name, indent - 2)}${first.trimStart()}`;
  return [head, ...lines].map((line) => `${line}\n`).join('');
}
