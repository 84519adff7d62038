import type { Command } from 'commander';
import { BenchError, catchBenchError } from '../base/bench-error.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { selectEngine } from '../bench/select-engine.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { type BenchConfig, engineOptionNames } from '../config/bench-config.ts';
import { flagName } from '../config/flags-from-schema.ts';
import type { EngineOpener } from '../engine/engine-adapter.ts';
import { resolveModelOptions, registryEntry } from '../eval/run/plan/resolve-model-options.ts';
import { printable, printableJson } from '../render/escape-control-characters.ts';
import { coloured, hangingText, padText, type Terminal } from '../render/terminal-text.ts';
import { type Check, checks, examine, type Finding } from './doctor-checks.ts';
import { addConfigOptions, type Flags, withExamples } from './options.ts';
import { terminalPage, suggestNextCommand } from './output.ts';
import { ProgressDisplay } from './progress.ts';
import { defaultPrompt, embedders, type PromptDefaults } from '../models/model-registry.ts';
import { cacheState, embedderFolder } from '../models/model-file-cache.ts';
import { armObstacle } from '../eval/run/plan/runnable-arms.ts';
import { promptFormText } from '../report/list-command-tables.ts';
import { everyArm } from './arm-help.ts';

const MARKS = { works: ['✓', 'green'], warning: ['!', 'yellow'], fails: ['✗', 'red'] } as const;
const CHECK_COLUMNS = 13;
const FACT_COLUMNS = 15;

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
  const head = `${coloured(mark, colour, page)} ${padText(name, CHECK_COLUMNS - 2)}`;
  const below =
    advice === undefined ? [] : hangingText(' '.repeat(CHECK_COLUMNS), printable(`→ ${advice}`), page.width);
  return [...hangingText(head, printable(found), page.width), ...below].map((line) => `${line}\n`).join('');
}

/** What a model can do with an engine, known before its weights are loaded. */
export type ModelAbilities = Awaited<ReturnType<typeof modelAbilities>>;

/** Inspects the configured model. @throws BenchError `bad-model`, `bad-option`, `not-found` */
export async function modelAbilities(config: BenchConfig, engines: EngineOpener) {
  const inspection = await engines.inspect(config.model, config.contextTokens);
  const { chatTemplate, name, architecture, parameters, ...model } = inspection.model;
  const { trainContextTokens, attention, rope, stopTokens, kvBytesPerToken } = model;
  const entry = await registryEntry(config.model, engines);
  // Options override the prompt defaults of the registry entry.
  const given: Partial<PromptDefaults> = config;
  const { template, systemPrompt, labels, answerPrefix } = { ...defaultPrompt(entry, chatTemplate !== null), ...given };
  return {
    name,
    architecture,
    parameters,
    trainContextTokens,
    attention,
    rope,
    stopTokens,
    kvBytesPerToken,
    hasChatTemplate: chatTemplate !== null,
    /** Its registry entry, found by the hash of its file, and the state of its files. */
    registry: entry === undefined ? null : { name: entry.name, licence: entry.licence, kept: cacheState(entry) },
    /** The embedder of the run: a name, or the path of its folder. */
    embedder: embedders.find((known) => embedderFolder(known) === config.embedder)?.name ?? config.embedder,
    asked: { template, systemPrompt, labels, answerPrefix },
    /** Capabilities that the engine will not have with this model, each with the reason. */
    missing: inspection.missing,
    /** Every arm, with the reason why the model cannot run it; null if it can. */
    arms: everyArm().map((arm) => ({ arm: arm.traits.name, obstacle: armObstacle(arm, inspection, config) ?? null })),
  };
}

const IN_CACHE = {
  ships: 'ships with the bench',
  whole: 'in the cache',
  'in part': 'in part in the cache',
  absent: 'not in the cache',
};

function facts(abilities: ModelAbilities): Readonly<Record<string, string>> {
  const { name, architecture, parameters, trainContextTokens, attention, rope, registry, asked } = abilities;
  const { systemPrompt } = asked;
  const size = parameters === null ? 'unknown size' : `${(parameters / 1e6).toFixed(1)} M parameters`;
  const texts = typeof systemPrompt === 'string' ? [systemPrompt] : Object.values(systemPrompt);
  const quoted = texts.map((text) => `"${text}"`).join(', in Chinese ');
  const kvBytes = Object.entries(abilities.kvBytesPerToken ?? {}).map(([type, bytes]) => `${bytes} bytes in ${type}`);
  return {
    model: `${name}, ${architecture}, ${size}`,
    window: `${trainContextTokens} tokens in training; attention: ${attention}`,
    ...(rope === null
      ? {}
      : {
          positions: `RoPE of base ${rope.base}, ${rope.scaling === 'none' ? 'not scaled' : `${rope.scaling} scaling by ${1 / rope.scale}`}`,
        }),
    chat: abilities.hasChatTemplate ? 'own chat template: --template chat' : 'no chat template: --template plain only',
    registry:
      registry === null
        ? 'no entry: prompted with the general defaults'
        : `${registry.name}, ${registry.licence}, ${IN_CACHE[registry.kept]}`,
    prompt: `${promptFormText(asked)}; ${systemPrompt === '' ? 'no system prompt' : `system prompt ${quoted}`}`,
    embedder: abilities.embedder,
    'stops at':
      abilities.stopTokens.map(({ id, text }) => `${text} (${id})`).join(', ') || 'no token named in its file',
    KV: kvBytes.length === 0 ? 'size unknown' : `${kvBytes.join(', ')}, per memory token`,
  };
}

export function abilitiesText(abilities: ModelAbilities, page: Terminal): string {
  const { arms } = abilities;
  const able = arms.filter(({ obstacle }) => obstacle === null).map(({ arm }) => arm);
  const obstacles = [...new Set(arms.flatMap(({ obstacle }) => obstacle ?? []))];
  const lines = [
    ...Object.entries(facts(abilities)).flatMap(([label, text]) => entry(' ', label, text, page)),
    ...(able.length === 0 ? [] : entry(coloured('✓', 'green', page), 'runs', able.join(', '), page)),
    ...obstacles.flatMap((obstacle) => {
      const names = arms.filter((arm) => arm.obstacle === obstacle).map(({ arm }) => arm);
      return entry(coloured('✗', 'red', page), 'cannot run', `${names.join(', ')}: ${obstacle}`, page);
    }),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function entry(mark: string, label: string, text: string, page: Terminal): string[] {
  return hangingText(`${mark} ${padText(label, FACT_COLUMNS - 2)}`, printable(text), page.width);
}
