import type { RunDatasets } from '../../../data/join-datasets.ts';
import type { Engine } from '../../../engine/engine.ts';
import { type BenchConfig, randomModelPrefix } from '../../../config/bench-config.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import { kernelChoice } from '../../../kv/kernels.ts';
import { bestEmbedderName, presetModels } from '../../../models/default-models.ts';
import { languageModelWithHash } from '../../../models/model-registry.ts';
import { PAPER_RELEVANCE_THRESHOLD } from '../../../systems/prefill/dual-factor-gate.ts';
import { ChatForm } from '../../../systems/prompt/chat-form.ts';
import { MIN_USERS } from '../../analysis/statistics/verdict.ts';
import { contrastBefore, contrastName } from '../../analysis/summary/planned-contrast.ts';
import { storesTexts } from '../../analysis/text-restrictions.ts';
import { sharedDeclarations } from './new-run-record.ts';
import type { PreparedSuite } from './prepare-suite.ts';

/** Notes on the data: the ones in their headers, and what limits the results. */
export function dataNotes({ parts }: Pick<RunDatasets, 'parts'>): string[] {
  const notes = parts.flatMap(({ name, declared: { note, texts }, brought }) => {
    const hidden = texts === undefined ? [] : ['reports hold ids, numbers and hashes, and none of its texts'];
    return [...(note === undefined ? [] : [note]), ...(brought?.notes ?? []), ...hidden].map(
      (one) => `${name}: ${one}`,
    );
  });
  for (const { name, users } of parts) {
    if (users.length > 1 && users.every(({ items }) => items.length === 1)) {
      notes.push(`${name}: each user asks one question, so that no turn finds KV of an earlier one`);
    }
  }
  const named = parts.filter(({ declared }) => declared.primaryMetric !== undefined);
  if (named.length > 0 && parts.length > 1 && sharedDeclarations(parts).primaryMetric === undefined) {
    const metrics = named.map(({ name, declared }) => `${name}: ${declared.primaryMetric!}`).join(', ');
    notes.push(`the data sets do not share one primary metric (${metrics}): arms are compared by the default metric`);
  }
  return notes;
}

/** Notes on whether exact arms can equal text bit by bit; none if every cut is exact. */
export function exactCutNotes({ info, capabilities: { exactCuts } }: Pick<Engine, 'info' | 'capabilities'>): string[] {
  if (info.engine !== 'llama-cpp' || exactCuts === 1) return [];
  if (exactCuts === null) {
    return [
      'on this device, bits depend on where a prompt is cut: exact arms equal text within rounding, not bit by bit',
    ];
  }
  return [
    `the weights are computed in groups of ${exactCuts} tokens: an exact prefix ends at a multiple of ${exactCuts}, and the tokens ` +
      'behind it are evaluated with the question',
  ];
}

/** A note on a stored self-test of the model. @param testedAt when it was made, ms since 1970; undefined if it was made now */
export function storedSelfTestNotes(testedAt: number | undefined): string[] {
  if (testedAt === undefined) return [];
  const time = new Date(testedAt).toISOString().slice(0, 16).replace('T', ' ');
  return [
    `the self-test of the model is the stored one of ${time} UTC, of the same model, settings, prompts, program and machine; ` +
      '--fresh-self-test makes a new one',
  ];
}

/** A note on the bundled embedder, if the model is not in the registry. @param sha256 hash of the model file */
export function embedderNotes(
  { model, embedder, given }: Pick<BenchConfig, 'model' | 'embedder' | 'given'>,
  sha256: string | null,
): string[] {
  const isKnown = sha256 !== null && languageModelWithHash(sha256) !== undefined;
  if (isKnown || model.startsWith(randomModelPrefix)) return [];
  if (embedder !== presetModels.embedder || given.includes('embedder')) return [];
  return [
    "memories are retrieved with the bundled embedder, which was trained on the bench's own data: for natural questions, " +
      `--embedder ${bestEmbedderName} finds more (docs/models.md)`,
  ];
}

export function optionNotes(
  { threshold, template }: Pick<BenchConfig, 'threshold' | 'template'>,
  { info }: Pick<Engine, 'info'>,
): string[] {
  const { contextTokens, model } = info;
  const notes = template === 'chat' ? ChatForm.notes(info) : [];
  if (threshold > 1) notes.push(`no score is above 1: with --threshold ${threshold} no memory is retrieved`);
  if (contextTokens > model.trainContextTokens) {
    notes.push(
      `the context window has ${contextTokens} tokens (--context-tokens), but the model was trained on ` +
        `${model.trainContextTokens}: it may misread text beyond them`,
    );
  }
  return notes;
}

/** Notes on the planned contrast, for before the first turn: what it is, and how small a contrast the drawn items can show. */
export function contrastNotes({ dataset, plan }: Pick<RunRecord, 'dataset' | 'plan'>): string[] {
  const planned = dataset.plannedContrast;
  if (planned === undefined) return [];
  const about = `planned contrast: ${contrastName(planned)}`;
  const missing = [planned.arm, planned.reference].filter((arm) => plan.arms.every(({ name }) => name !== arm));
  if (missing.length > 0) return [`${about}: not measured, since this run has no arm ${missing.join(' and ')}`];
  const { items, detectable } = contrastBefore(planned, dataset.counts.category);
  const drawn = planned.categories.map((category, place) => `${items[place]!} of ${category}`).join(', ');
  if (detectable === null) return [`${about}: not measured, since items are missing (${drawn})`];
  // Each difference is at most the share of items on which the arms differ.
  if (detectable > 2 * planned.discordance) return [`${about}: its items (${drawn}) are too few to show any contrast`];
  const points = (detectable * 100).toFixed(1);
  const percent = (planned.discordance * 100).toFixed(0);
  const tooFew = dataset.users < MIN_USERS ? `; no verdict with fewer than ${MIN_USERS} users` : '';
  return [
    `${about}; its items (${drawn}) can show ${points} points or more (80 % power, two-sided 5 %, if the arms differ on ` +
      `${percent} % of independent items)${tooFew}. All else by category is exploratory`,
  ];
}

export function notesBeforeTurns({ calibration, dataset, parts, settings, stores }: PreparedSuite, run: RunRecord) {
  const notes = [
    ...dataNotes(dataset),
    ...contrastNotes(run),
    ...optionNotes(settings, parts.engine),
    ...embedderNotes(settings, run.model.sha256),
  ];
  const { backend, rejectedBackends } = parts.backend;
  // FAISS is the same through either of its bindings.
  if (!backend.name.startsWith('faiss')) {
    notes.push(...rejectedBackends.map((other) => `vector backend ${other.name} passed over: ${other.reason}`));
  }
  const kernels = kernelChoice().rejectedBackends;
  if (kernels !== null) notes.push(`KV blocks moved by WebAssembly, native kernels passed over: ${kernels}`);
  if (run.environment.gitDirty === true) notes.push('the work tree had uncommitted changes');
  if (stores.shared) {
    notes.push(
      'KV store shared by users and runs (--kv-store): hit rates are not those of a fresh user, ' +
        'and rag-cached, which keeps its list of prompts in memory, starts empty in each process',
    );
  }
  if (calibration === undefined) {
    notes.push(
      `dki-gated injects above a relevance of ${PAPER_RELEVANCE_THRESHOLD} (from the paper): the embedder has no calibration`,
    );
  } else if (calibration !== null) {
    notes.push(`dki-gated injects above a relevance of ${calibration.gatingThreshold} (calibration of the embedder)`);
  }
  if (!storesTexts(run)) {
    notes.push(
      'no text was stored (--no-text): the viewer shows hashes, attribution cannot replay a turn, and the check ' +
        'negative controls cannot compute chance',
    );
  }
  if (settings.alpha !== 1) notes.push(`values of injected memories multiplied by ${settings.alpha} (--alpha)`);
  return notes;
}
