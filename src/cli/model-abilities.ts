import type { BenchConfig } from '../config/bench-config.ts';
import { defaultPrompt } from '../models/prompt-defaults.ts';
import { cacheState, embedderFolder } from '../models/model-file-cache.ts';
import { embedders, type PromptDefaults } from '../models/model-registry.ts';
import type { EngineOpener } from '../engine/engine-adapter.ts';
import { armObstacle } from '../eval/run/plan/runnable-arms.ts';
import { registryEntry } from '../eval/run/plan/resolve-model-options.ts';
import { promptFormText } from '../report/list-command-tables.ts';
import { printable } from '../render/escape-control-characters.ts';
import { coloured, type Terminal } from '../render/terminal-style.ts';
import { hangingText, padText } from '../render/wrap-text.ts';
import { everyArm } from './arm-help.ts';

const INDENT = 15;

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
  return hangingText(`${mark} ${padText(label, INDENT - 2)}`, printable(text), page.width);
}
