import { z } from 'zod';
import { blockMaking, evictionName, joinedStrategy, storeType } from './prefill-record.ts';
import { list, object } from './zod-helpers.ts';

/** Shapes of marks in figures, told apart in grey too. */
const markShape = z.enum([
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

/** The colour, shape and line of an arm in every figure; `dash` are the lengths of strokes and gaps of its lines, px. */
export const mark = object({ colour: z.string(), shape: markShape, dash: list(z.number()) });

export type Mark = z.output<typeof mark>;

/** Settings of an arm that differ from those of the run: `dki@alpha=0.5`, `dki-blocks@labels=bullet@placement=rank`. */
export const armSettings = object({
  /** Multiplies the values of injected memories. */
  alpha: z.number().exactOptional(),
  labels: z.enum(['index', 'bullet']).exactOptional(),
  placement: z.enum(['chronological', 'rank', 'rank-last']).exactOptional(),
  /** Share of the window left that memories may take: `half` of it, or `all`. */
  budget: z.enum(['half', 'all']).exactOptional(),
  template: z.enum(['plain', 'chat']).exactOptional(),
  /** The beginning of the answer that the model is given: none, the run's general one, or the item's own where it has one. */
  answerPrefix: z.enum(['none', 'general', 'item']).exactOptional(),
  /** The type in which injected KV is kept, and from which it is restored. */
  store: storeType.exactOptional(),
  /** The context of a block of KV while it is computed: the header, nothing, or the header and the memory before it. */
  context: z.enum(['header', 'none', 'previous']).exactOptional(),
  /** Shared tokens in front of each block while it is computed: `4`, dropped when blocks are joined, or `4:kept`. */
  sink: z
    .string()
    .regex(/^[1-9]\d{0,2}(:kept)?$/)
    .exactOptional(),
  /** Positions of blocks: one behind the other, or all right behind the header. */
  positions: z.enum(['contiguous', 'parallel']).exactOptional(),
  /** Divides what queries find in the keys of parallel blocks, before the softmax. */
  temperature: z.number().positive().exactOptional(),
  /** Neighbouring tokens that a rule recomputes together. Default: one. */
  run: z.number().int().min(2).max(999).exactOptional(),
  /** The moment at which a block is computed: the `turn` that finds none, or `ahead`, when its memory is added. */
  built: z.enum(['turn', 'ahead']).exactOptional(),
});

export type ArmSettings = z.output<typeof armSettings>;

const prefillName = z.union([z.literal('prefix'), joinedStrategy]);

export type PrefillName = z.output<typeof prefillName>;

/** Traits of an arm: stored with the run, so that analysis and report know an arm by these and not by its name. */
export const armTraits = object({
  /** With its settings, such as `dki@alpha=0.5`. */
  name: z.string(),
  /** The name without settings. */
  base: z.string(),
  settings: armSettings,
  /** The memories that it is given: none, those that the retriever found, the evidence, all of the user's, or another user's. */
  retrieves: z.enum(['nothing', 'retrieved', 'evidence', 'all', 'donor']),
  /** Memories that it injects as KV, wherever there are any. */
  injects: z.enum(['nothing', 'memories', 'preferences']),
  /**
   * The way in which its KV comes about, which its cells must show: one contiguous prefix, or joined blocks, of which the
   * first k tokens may be recomputed. Missing where it injects none, and of an arm that does not say.
   */
  prefill: prefillName.exactOptional(),
  /** How its blocks are made, where that is not the default. */
  making: blockMaking.exactOptional(),
  /** The tokens of its memories that are dropped before their KV is kept; missing where none are. */
  evict: evictionName.exactOptional(),
  /** Multiplies the values of injected memories; missing where it injects none, and where each turn has its own. */
  alpha: z.number().exactOptional(),
  /** What of its reference it claims to equal: the `tokens` of the sequence; `bitwise`: also the next-token probabilities. */
  equivalence: z.enum(['bitwise', 'tokens', 'none']),
  /** The text arm of the run whose prompt is made by the same settings; null where there is none, and for that arm itself. */
  reference: z.string().nullable(),
  /** `negative`: holds no memory that answers; `twin`: another arm again. Null for an arm that is no control. */
  control: z.enum(['negative', 'twin']).nullable(),
  /**
   * `baseline`: the arm that all others are compared with; `primary`: the planned arm whose cache hits and misses divide
   * the turns of every arm; `planned`: its quality is tested against the baseline, named before anything was measured;
   * `exploratory`: compared, not tested.
   */
  comparison: z.enum(['baseline', 'primary', 'planned', 'exploratory']),
  /** Missing, or false where it uses knowledge that no deployment has: its answers are a bound, its costs are nobody's. */
  deployable: z.literal(false).exactOptional(),
  /** Keeps KV in its session from turn to turn, so that it needs one of its own. */
  keepsSession: z.boolean(),
  /** One line, for `--help` and tables. */
  summary: z.string(),
  mark,
});

/** Traits of an arm, by which analysis and report know it. */
export type ArmTraits = z.output<typeof armTraits>;
