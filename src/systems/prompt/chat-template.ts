import { BenchError } from '../../base/bench-error.ts';
import { sandboxTemplate } from './jinja-sandbox.ts';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** Default date of Llama 3's template. Today's date would change every prompt from day to day. */
const FIXED_DATE = '26 Jul 2024';
const fixedDay: Readonly<Record<string, string>> = {
  Y: '2024',
  B: 'July',
  b: 'Jul',
  m: '07',
  d: '26',
  A: 'Friday',
  a: 'Fri',
  H: '12',
  M: '00',
  S: '00',
};

/** A model's Jinja template: turns messages into text with control tokens. Never pass it text of users or memories. */
export class ChatTemplate {
  readonly #name: string;
  readonly #render: (values: Readonly<Record<string, unknown>>) => string;
  readonly #values: Readonly<Record<string, unknown>>;

  /** @param tokens texts of special tokens @throws BenchError `bad-model` if it cannot be parsed or exceeds a limit */
  constructor(name: string, source: string, tokens: { readonly bos: string; readonly eos: string }) {
    this.#name = name;
    this.#values = {
      bos_token: tokens.bos,
      eos_token: tokens.eos,
      tools: null,
      // Switches thinking off: thoughts would use up an answer's few tokens. Each model family has its own switch.
      enable_thinking: false,
      thinking: false,
      thinking_mode: 'disabled',
      date_string: FIXED_DATE,
      strftime_now: (format: string) =>
        format.replaceAll(/%(.)/gu, (directive, letter: string) => fixedDay[letter] ?? directive),
    };
    this.#render = this.#refusing(() => sandboxTemplate(source));
  }

  /** The text up to the assistant's answer. @throws BenchError `bad-model` if it rejects the messages or does not end */
  render(messages: readonly ChatMessage[]): string {
    return this.#refusing(() => this.#render({ ...this.#values, messages, add_generation_prompt: true }));
  }

  refusal(why: string, cause?: unknown): BenchError {
    return new BenchError(
      'bad-model',
      `the chat template of ${this.#name} cannot be used: ${why.split('\n')[0]}`,
      'use the plain form of prompts: --template plain',
      cause,
    );
  }

  #refusing<T>(act: () => T): T {
    try {
      return act();
    } catch (cause) {
      throw this.refusal((cause as Error).message, cause);
    }
  }
}
