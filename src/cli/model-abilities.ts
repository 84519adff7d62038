import type { BenchConfig, SystemPrompt } from '../config/bench-config.ts';
import { defaultPrompt } from '../models/prompt-defaults.ts';
import { embedderFolder, type CacheState, cacheState } from '../models/model-files.ts';
import { embedders, type PromptDefaults } from '../models/registry.ts';
import type { EngineInspection, EngineOpener } from '../engine/engine-request.ts';
import { armObstacle } from '../eval/run/plan/arm-obstacles.ts';
import { registryEntryOf } from '../eval/run/plan/fetch-models.ts';
import { askedInWords } from '../report/list-tables.ts';
import { printable } from '../render/printable.ts';
import { coloured, type Page } from '../render/terminal.ts';
import { padText, wrapText } from '../render/text-width.ts';
import { everyArm } from './arm-help.ts';

type Model = EngineInspection['model'];

/** Abilities of a model with the engine, before its weights are read. */
export interface ModelAbilities extends Pick<
  Model,
  | 'name'
  | 'architecture'
  | 'parameters'
  | 'trainContextTokens'
  | 'attention'
  | 'rope'
  | 'stopTokens'
  | 'kvBytesPerToken'
> {
  readonly hasChatTemplate: boolean;
  /** Its entry in the registry, found by its bytes, and whether the cache has it; null for a model without one. */
  readonly registry: { readonly name: string; readonly licence: string; readonly kept: CacheState } | null;
  /** The embedder of the run: a name, or the path of its folder. */
  readonly embedder: string;
  /** How the run will prompt it. */
  readonly asked: PromptDefaults;
  /** Capabilities that the engine will not have with this model, each with the reason. */
  readonly missing: EngineInspection['missing'];
  /** Every arm, with the reason why the model cannot run it; null if it can. */
  readonly arms: readonly { readonly arm: string; readonly obstacle: string | null }[];
}

const INDENT = 15;
const UNKNOWN_SIZE = 'of a size that the engine does not show';

/** Inspects the configured model. @throws BenchError `bad-model`, `bad-option`, `not-found` */
export async function modelAbilities(config: BenchConfig, engines: EngineOpener): Promise<ModelAbilities> {
  const inspection = await engines.inspect(config.model);
  const hasChatTemplate = inspection.model.chatTemplate !== null;
  const entry = await registryEntryOf(config.model, engines);
  const { name, architecture, parameters, trainContextTokens, attention, rope, stopTokens, kvBytesPerToken } =
    inspection.model;
  return {
    name,
    architecture,
    parameters,
    trainContextTokens,
    attention,
    rope,
    stopTokens,
    kvBytesPerToken,
    hasChatTemplate,
    registry: entry === undefined ? null : { name: entry.name, licence: entry.licence, kept: cacheState(entry) },
    embedder: embedders.find((known) => embedderFolder(known) === config.embedder)?.name ?? config.embedder,
    asked: withOptions(defaultPrompt(entry, hasChatTemplate), config),
    missing: inspection.missing,
    arms: everyArm().map((arm) => ({ arm: arm.traits.name, obstacle: armObstacle(arm, inspection, config) ?? null })),
  };
}

/** The entry's values, overridden by options. */
function withOptions(asked: PromptDefaults, config: Partial<PromptDefaults>): PromptDefaults {
  const { template, systemPrompt, labels, answerPrefix } = { ...asked, ...config };
  return { template, systemPrompt, labels, answerPrefix };
}

function systemPromptText(systemPrompt: SystemPrompt): string {
  if (systemPrompt === '') return 'no system prompt';
  const texts = typeof systemPrompt === 'string' ? [systemPrompt] : Object.values(systemPrompt);
  return `system prompt ${texts.map((text) => `"${text}"`).join(', in Chinese ')}`;
}

const KEPT = {
  ships: 'ships with the bench',
  whole: 'in the cache',
  'in part': 'in part in the cache',
  absent: 'not in the cache',
};

function registryText({ registry }: ModelAbilities): string {
  if (registry === null) return 'no entry: prompted as an untried model';
  return `${registry.name}, ${registry.licence}, ${KEPT[registry.kept]}`;
}

function facts(abilities: ModelAbilities): (readonly [label: string, text: string])[] {
  const { name, architecture, parameters, trainContextTokens, attention, rope, hasChatTemplate, stopTokens, asked } =
    abilities;
  const kvBytes = Object.entries(abilities.kvBytesPerToken ?? {});
  return [
    [
      'model',
      `${name}, ${architecture}, ${parameters === null ? UNKNOWN_SIZE : `${(parameters / 1e6).toFixed(1)} M parameters`}`,
    ],
    ['window', `${trainContextTokens} tokens in training; attention: ${attention}`],
    ...(rope === null ? [] : ([['positions', ropeText(rope)]] as const)),
    ['chat', hasChatTemplate ? 'own chat template: --template chat' : 'no chat template: --template plain only'],
    ['registry', registryText(abilities)],
    ['prompt', `${askedInWords(asked)}; ${systemPromptText(asked.systemPrompt)}`],
    ['embedder', abilities.embedder],
    ['stops at', stopTokens.map(({ id, text }) => `${text} (${id})`).join(', ') || 'no token that its file names'],
    [
      'KV',
      kvBytes.length === 0
        ? 'none of its own'
        : `${kvBytes.map(([type, bytes]) => `${bytes} bytes in ${type}`).join(', ')}, per memory token`,
    ],
  ];
}

function ropeText({ base, scaling, scale }: NonNullable<ModelAbilities['rope']>): string {
  return `RoPE of base ${base}, ${scaling === 'none' ? 'not scaled' : `${scaling} scaling by ${1 / scale}`}`;
}

/** Renders the abilities for a terminal. */
export function abilitiesText(abilities: ModelAbilities, page: Page): string {
  const { arms } = abilities;
  const able = arms.filter(({ obstacle }) => obstacle === null).map(({ arm }) => arm);
  const obstacles = [...new Set(arms.flatMap(({ obstacle }) => obstacle ?? []))];
  const lines = [
    ...facts(abilities).flatMap(([label, text]) => entry(' ', label, text, page)),
    ...(able.length === 0 ? [] : entry(coloured('✓', 'green', page), 'runs', able.join(', '), page)),
    ...obstacles.flatMap((obstacle) => {
      const names = arms.filter((arm) => arm.obstacle === obstacle).map(({ arm }) => arm);
      return entry(coloured('✗', 'red', page), 'cannot run', `${names.join(', ')}: ${obstacle}`, page);
    }),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function entry(mark: string, label: string, text: string, page: Page): string[] {
  const [first = '', ...rest] = wrapText(printable(text), page.width - INDENT);
  return [`${mark} ${padText(label, INDENT - 2)}${first}`, ...rest.map((line) => ' '.repeat(INDENT) + line)];
}
