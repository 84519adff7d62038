import { z } from 'zod';
import { blockMaking, evictionName, joinedStrategy, storeType } from './prefill-record.ts';
import { list, object } from './zod-helpers.ts';

/** Shapes of marks in figures, which differ without colour too. */
export const markShape = z.enum([
  'circle',
  'square',
  'diamond',
  'triangle-up',
  'triangle-down',
  'triangle-left',
  'triangle-right',
  'cross',
  'stroke',
  'hourglass',
  'bow-tie',
  'pentagon',
  'star',
  'half-disc',
  'chevron',
]);

/** How figures draw an arm; `dash`: lengths of strokes and gaps of its lines, px. */
export const mark = object({ colour: z.string(), shape: markShape, dash: list(z.number()) });
export type Mark = z.output<typeof mark>;

/** Settings of an arm that differ from those of the run: `dki@alpha=0.5`, `dki-blocks@labels=bullet@placement=rank`. */
export const armSettings = object({
  /** Multiplies the values of injected memories. */
  alpha: z.number().exactOptional(),
  labels: z.enum(['index', 'bullet']).exactOptional(),
  placement: z.enum(['chronological', 'rank', 'rank-last']).exactOptional(),
  /** `stable`: the memories that were retrieved most often before come first, instead of `placement`. */
  order: z.literal('stable').exactOptional(),
  /** How much of the remaining context window memories may take. */
  budget: z.enum(['half', 'all']).exactOptional(),
  template: z.enum(['plain', 'chat']).exactOptional(),
  /** Beginning of the answer given to the model: none, the run's general one, or the item's if it has one. */
  answerPrefix: z.enum(['none', 'general', 'item']).exactOptional(),
  /** Type in which injected KV is stored. */
  store: storeType.exactOptional(),
  /** What a block attends to while it is computed: the header, nothing, or header and previous memory. */
  context: z.enum(['header', 'none', 'previous']).exactOptional(),
  /** Sink tokens before each block while it is computed: joining drops the cells of `4`, and keeps those of `4:kept`. */
  sink: z
    .string()
    .regex(/^[1-9]\d{0,2}(:kept)?$/)
    .exactOptional(),
  /** Positions of blocks: one after the other, or all directly after the header. */
  positions: z.enum(['contiguous', 'parallel']).exactOptional(),
  /** Divides the attention logits of the keys of parallel blocks, before the softmax. */
  temperature: z.number().positive().exactOptional(),
  /** Number of adjacent tokens that a rule selects together. Default: 1. */
  run: z.number().int().min(2).max(999).exactOptional(),
  /** What users may find of each other's prompts in a prefix cache. Default `system`: the text before a user's own. */
  share: z.enum(['system', 'all']).exactOptional(),
  /** Memories whose whole blocks are joined although their tokens were evicted: `2`, the best retrieved, or `2:random`. */
  repair: z
    .string()
    .regex(/^[1-9]\d{0,2}(:random)?$/)
    .exactOptional(),
  /** When a block is computed: in the first `turn` that needs it, or `ahead`, when its memory is added. */
  built: z.enum(['turn', 'ahead']).exactOptional(),
});
export type ArmSettings = z.output<typeof armSettings>;

const prefillName = z.union([z.literal('prefix'), joinedStrategy]);
export type PrefillName = z.output<typeof prefillName>;

/** Traits of an arm, stored with the run, so that analysis and reports do not depend on its name. */
export const armTraits = object({
  /** With its settings, such as `dki@alpha=0.5`. */
  name: z.string(),
  /** The name without settings. */
  base: z.string(),
  settings: armSettings,
  /** The memories it is given: none, the retrieved ones, the evidence, all of the user's, or another user's (`donor`). */
  retrieves: z.enum(['nothing', 'retrieved', 'evidence', 'all', 'donor']),
  /**
   * The prompt has its memories in other words: `each` under its own id, or all `together` in a text under the id of one of them.
   * Missing: word by word.
   */
  rewords: z.enum(['each', 'together']).exactOptional(),
  /** The prompt shows a part of the memories that the arm is given. Missing: all that fit. */
  selects: z.literal(true).exactOptional(),
  /** What it injects as KV. */
  injects: z.enum(['nothing', 'memories', 'preferences']),
  /**
   * How its KV is made, which check `cells` verifies: one contiguous prefix, or blocks joined in some way. Missing if it injects
   * nothing, or does not declare this.
   */
  prefill: prefillName.exactOptional(),
  /** Its KV comes from files made elsewhere, so that checks that need the origin of KV leave it out. */
  external: z.literal(true).exactOptional(),
  /** How its blocks are made; missing for the default. */
  making: blockMaking.exactOptional(),
  /** Rule and share of memory tokens that are dropped before their KV is stored; missing without eviction. */
  evict: evictionName.exactOptional(),
  /** Multiplies the values of injected memories; missing if it injects none, or if alpha differs by turn. */
  alpha: z.number().exactOptional(),
  /** What it claims to share with its reference: the `tokens` of the prompt; `bitwise`: also the next-token probabilities. */
  equivalence: z.enum(['bitwise', 'tokens', 'none']),
  /** The text arm with the same prompt settings; null if the run has none, and for that arm itself. */
  reference: z.string().nullable(),
  /** `negative`: gets no memory that answers; `twin`: repeats another arm. Null for an arm that is no control. */
  control: z.enum(['negative', 'twin']).nullable(),
  /**
   * `baseline`: the arm that all others are compared with; `planned`: its quality is tested against the baseline, as decided
   * before the run; `primary`: planned, and its cache hits and misses also split the turns of every other arm; `exploratory`:
   * compared, not tested.
   */
  comparison: z.enum(['baseline', 'primary', 'planned', 'exploratory']),
  /** False if it uses knowledge that no deployment has: its quality is a bound, and its costs mean nothing. */
  deployable: z.literal(false).exactOptional(),
  /** What users may find of each other's prompts in its prefix cache; missing if nothing. */
  shares: z.enum(['system', 'all']).exactOptional(),
  /** Keeps KV in its session between turns, so that it cannot share the session. */
  keepsSession: z.boolean(),
  /** One line, for `--help` and tables. */
  summary: z.string(),
  mark,
});

/** Traits of an arm, by which analysis and report know it. */
export type ArmTraits = z.output<typeof armTraits>;
