import type { Command } from 'commander';
import { BenchError, catchBenchError } from '../base/bench-error.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { selectEngine } from '../bench/select-engine.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { type BenchConfig, engineOptionNames } from '../config/bench-config.ts';
import { flagName } from '../config/flags-from-schema.ts';
import type { EngineOpener } from '../engine/engine-adapter.ts';
import { resolveModelOptions } from '../eval/run/plan/resolve-model-options.ts';
import { printable, printableJson } from '../render/escape-control-characters.ts';
import { coloured, type Terminal } from '../render/terminal-style.ts';
import { hangingText, padText } from '../render/wrap-text.ts';
import { suggestNextCommand } from './suggest-next-command.ts';
import { type Check, checks, examine, type Finding } from './doctor-checks.ts';
import { abilitiesText, modelAbilities } from './model-abilities.ts';
import { addConfigOptions, type Flags, withExamples } from './options.ts';
import { terminalPage } from './output.ts';
import { ProgressDisplay } from './progress.ts';

const MARKS = { works: ['✓', 'green'], warning: ['!', 'yellow'], fails: ['✗', 'red'] } as const;
const INDENT = 13;

export function declare(command: Command): void {
  command.description('check this machine, and list the arms that a model can run, with advice on every problem');
  const keys = ['dataset', 'model', 'engine', 'embedder', 'retriever', 'template', 'contextTokens', 'threads'] as const;
  addConfigOptions(command, [...keys, 'out', 'json', ...engineOptionNames]).action(doctor);
  withExamples(command, {
    doctor: 'what works on this machine, and what to do',
    'doctor --model FILE.gguf': 'which arms a model can run, and why it cannot run the others',
    'doctor --retriever hinted': 'also whether the model can route questions, by 56 prompts',
    'doctor --json': 'for a program',
  });
}

async function doctor(flags: Flags): Promise<void> {
  const given = loadBenchConfig({ flags });
  const engines = selectEngine(given);
  const config = await fetchModels(given, engines);
  const page = terminalPage();
  const findings: (Finding & Pick<Check, 'name'>)[] = [];
  for (const check of checks.filter(({ applies }) => applies?.(config) ?? true)) {
    const finding = await examine(check, config, engines);
    findings.push({ name: check.name, ...finding });
    if (!config.json) process.stdout.write(findingLines(check.name, finding, page));
  }
  const able = findings.every(({ state }) => state !== 'fails');
  process.exitCode = able ? exitCodes.ok : exitCodes.checkFailed;
  const found = await catchBenchError(modelAbilities(config, engines));
  // The check `model` has already reported why the model cannot be read.
  const abilities = found instanceof BenchError ? null : found;
  if (config.json) {
    process.stdout.write(printableJson({ able, checks: findings, model: abilities }));
    return;
  }
  if (abilities !== null) process.stdout.write(`\n${abilitiesText(abilities, page)}`);
  const words = ['engine', 'model', ...engineOptionNames].flatMap((key) => {
    const value = flags[key];
    if (value === true) return [flagName(key)];
    return typeof value === 'string' ? [flagName(key), value] : [];
  });
  const bench = suggestNextCommand('bench', config, words);
  process.stdout.write(able ? `\nThe bench can run: ${bench}\n` : '\nThe bench cannot run yet.\n');
}

async function fetchModels(config: BenchConfig, engines: EngineOpener): Promise<BenchConfig> {
  using display = config.json ? undefined : new ProgressDisplay(process.stderr);
  return await resolveModelOptions(config, engines, { onProgress: display?.showDownload });
}

function findingLines(name: string, { state, found, advice }: Finding, page: Terminal): string {
  const [mark, colour] = MARKS[state];
  const head = `${coloured(mark, colour, page)} ${padText(name, INDENT - 2)}`;
  const below = advice === undefined ? [] : hangingText(' '.repeat(INDENT), printable(`→ ${advice}`), page.width);
  return [...hangingText(head, printable(found), page.width), ...below].map((line) => `${line}\n`).join('');
}
