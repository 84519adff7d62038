import { BenchError } from '../../base/bench-error.ts';
import { LimitedTemplate } from './limited-template.ts';

/** A message as chat templates know it. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** The day of Llama 3's own template where nobody gives one: today's would make every prompt another tomorrow. */
const FIXED_DAY = new Date('2024-07-26T12:00:00Z');
const FIXED_DATE = '26 Jul 2024';

/** A date in the form that `strftime` is given, of the fixed day. */
function fixedDay(format: string): string {
  const part = (options: Intl.DateTimeFormatOptions): string =>
    FIXED_DAY.toLocaleDateString('en', { ...options, timeZone: 'UTC' });
  const parts: Readonly<Record<string, string>> = {
    Y: part({ year: 'numeric' }),
    B: part({ month: 'long' }),
    b: part({ month: 'short' }),
    m: part({ month: '2-digit' }),
    d: part({ day: '2-digit' }),
    A: part({ weekday: 'long' }),
    a: part({ weekday: 'short' }),
    H: '12',
    M: '00',
    S: '00',
  };
  return format.replaceAll(/%(.)/gu, (directive, letter: string) => parts[letter] ?? directive);
}

/** A model's own Jinja template: messages in, text with control tokens out. Never for text from outside. */
export class ChatTemplate {
  readonly #name: string;
  readonly #template: LimitedTemplate;
  readonly #values: Readonly<Record<string, unknown>>;

  /**
   * @param name of the model, for messages
   * @param tokens the texts of the tokens that many templates write themselves
   * @throws BenchError `bad-model` where it is no template, or one beyond all limits
   */
  constructor(name: string, source: string, tokens: { readonly bos: string; readonly eos: string }) {
    this.#name = name;
    this.#values = {
      bos_token: tokens.bos,
      eos_token: tokens.eos,
      tools: null,
      // Where a model can think first, the few tokens of an answer would all be thoughts. Families name the switch differently.
      enable_thinking: false,
      thinking: false,
      thinking_mode: 'disabled',
      date_string: FIXED_DATE,
      strftime_now: fixedDay,
    };
    try {
      this.#template = new LimitedTemplate(source);
    } catch (cause) {
      throw this.refusal((cause as Error).message, cause);
    }
  }

  /**
   * @param opensAnswer whether the text ends where the answer of the assistant begins
   * @throws BenchError `bad-model` with the template's own words where it refuses the messages, and where it does not come to an end
   */
  render(messages: readonly ChatMessage[], opensAnswer: boolean): string {
    try {
      return this.#template.render({ ...this.#values, messages, add_generation_prompt: opensAnswer });
    } catch (cause) {
      throw this.refusal((cause as Error).message, cause);
    }
  }

  /** The template cannot be used; `why` completes the sentence. */
  refusal(why: string, cause?: unknown): BenchError {
    return new BenchError(
      'bad-model',
      `the chat template of ${this.#name} cannot be used: ${why.split('\n')[0]}`,
      'use the plain form of prompts: --template plain',
      cause,
    );
  }
}
