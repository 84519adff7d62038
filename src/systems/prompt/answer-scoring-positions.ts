import type { Engine } from '../../engine/engine.ts';
import type { TokenId } from '../../engine/token-id.ts';
import { answerLead, answerPrefixSegments, type FormName } from './prompt-form.ts';

export interface AnswerOpening {
  readonly form: FormName;
  readonly prefix: string;
  /** Tokens of the prefix, at the end of the prompt. */
  readonly prefixTokens: number;
}

/** One way of scoring an answer: the end of the prompt, and the answer after it. */
export interface AnswerScoringPosition {
  /** Replaces the suffix of the turn. */
  readonly suffix: readonly TokenId[];
  /** The tokens by which the model would write the answer there. */
  readonly answer: readonly TokenId[];
}

/** Where an answer can be scored: after the turn's prompt and after the item's prefix; the same object if these agree. */
export async function answerScoringPositions(
  { suffix, opening }: { readonly suffix: readonly TokenId[]; readonly opening: AnswerOpening },
  { answer, ownPrefix }: { readonly answer: string; readonly ownPrefix?: string | null | undefined },
  engine: Pick<Engine, 'tokenize'>,
): Promise<Record<'afterPrompt' | 'afterItemPrefix', AnswerScoringPosition>> {
  const { form, prefix, prefixTokens } = opening;
  const own = ownPrefix?.trim() ?? prefix;
  const texts = [
    `${answerLead(form, prefix, answer)}${answer}`,
    `${answerLead(form, own, answer)}${answer}`,
    ...answerPrefixSegments(form, own).map(({ text }) => text),
  ];
  const [behindPrefix = [], behindOwn = [], ownIds = []] = await engine.tokenize(
    texts.map((text) => ({ text, as: 'text' })),
  );
  const afterPrompt = { suffix, answer: behindPrefix };
  if (own === prefix) return { afterPrompt, afterItemPrefix: afterPrompt };
  return {
    afterPrompt,
    afterItemPrefix: { suffix: [...suffix.slice(0, suffix.length - prefixTokens), ...ownIds], answer: behindOwn },
  };
}
