import { randomUUID } from 'node:crypto';
import { BenchError } from '../../base/bench-error.ts';
import type { Engine } from '../../engine/engine.ts';
import { withoutOpenThought } from '../../engine/generated-text.ts';
import type { HistoryMessage } from '../../store/records/prompt-info.ts';
import {
  answerPrefixSegments,
  type FormParts,
  type PromptForm,
  type Segment,
  memoryHeader,
  oneLine,
} from './prompt-form.ts';
import { type ChatMessage, ChatTemplate } from './chat-template.ts';
import { plainForm } from './plain-form.ts';

export interface ChatEngine extends Pick<Engine, 'tokenize' | 'detokenize'> {
  readonly info: Pick<Engine['info'], 'bosToken' | 'markers' | 'endTokens'> & {
    readonly model: Pick<Engine['info']['model'], 'name' | 'chatTemplate'>;
  };
}

interface Place {
  readonly name: string;
  readonly role: ChatMessage['role'];
}

/**
 * A prompt in a model's chat template. The template is rendered with marks instead of contents and cut at the marks, so it
 * never sees text of users or memories. Memories are in the system message, or, if the template has none, before the user's
 * first message.
 */
export class ChatForm implements PromptForm {
  readonly name = 'chat';
  stopTexts: readonly string[] = [];
  readonly #template: ChatTemplate;
  readonly #bos: string;
  readonly #pieces = new Map<string, readonly string[]>();
  #hasSystem = true;

  private constructor(model: string, source: string, info: ChatEngine['info']) {
    this.#template = new ChatTemplate(model, source, info.markers);
    // If the tokenizer adds a BOS token, the template's BOS would be a second one.
    this.#bos = info.bosToken === null ? '' : info.markers.bos;
    try {
      this.#render([], true);
    } catch (error) {
      this.#hasSystem = false;
      try {
        this.#render([], true);
      } catch {
        throw error;
      }
    }
  }

  /** @throws BenchError `bad-model` if there is no template, or it reorders, changes or repeats a message */
  static async open(engine: ChatEngine): Promise<ChatForm> {
    const { name, chatTemplate } = engine.info.model;
    if (chatTemplate === null) {
      throw new BenchError(
        'bad-model',
        `${name} has no chat template in its file`,
        'use the plain form of prompts, --template plain, or a model that was trained for chat',
      );
    }
    const form = new ChatForm(name, chatTemplate, engine.info);
    form.#render([], false);
    const behindAnswer = form.#render(['user', 'assistant'], true).at(-2)!;
    form.stopTexts = await form.#findStopTexts(behindAnswer, engine);
    return form;
  }

  static notes(info: ChatEngine['info']): string[] {
    const { name, chatTemplate } = info.model;
    if (chatTemplate === null || new ChatForm(name, chatTemplate, info).#hasSystem) return [];
    return [
      'the chat template has no system message: instruction and memories stand in front of the first user message',
    ];
  }

  segments({ systemPrompt, memoryHeader: header, lines, history, query, answerPrefix }: FormParts): Segment[] {
    // Keep an empty system message: without one, many templates add their own text.
    const withSystem = this.#hasSystem || systemPrompt !== '' || lines.length > 0;
    const roles = history.map(({ role }) => role);
    const [opening = '', ...others] = this.#render(roles, withSystem);
    const [behindSystem = ''] = withSystem ? others.splice(0, 1) : [];
    // Memories begin an empty system message.
    const frame = systemPrompt === '' ? [memoryHeader(header)] : this.memoryFrame(header);
    const contents = [...history.map((message) => this.message(message)), contentSegment('query', query)];
    return [
      ...templateSegments(opening),
      ...(systemPrompt === '' ? [] : [this.system(systemPrompt)]),
      ...(lines.length > 0 ? [...frame, ...lines] : []),
      ...templateSegments(behindSystem),
      ...contents.flatMap((content, index) => [content, ...templateSegments(others[index]!)]),
      ...answerPrefixSegments('chat', answerPrefix),
    ];
  }

  forced(query: string, answerPrefix: string): Segment[] {
    const [opening = '', end = ''] = this.#render([], false);
    return [
      ...templateSegments(opening),
      contentSegment('query', query),
      ...templateSegments(end),
      ...answerPrefixSegments('chat', answerPrefix),
    ];
  }

  system(content: string): Segment {
    return contentSegment('system', content);
  }

  message({ content }: HistoryMessage): Segment {
    return contentSegment('history', content);
  }

  memoryFrame(text?: string): [Segment] {
    const header = memoryHeader(text);
    return [{ ...header, text: `\n\n${header.text}` }];
  }

  historyFrameTokens(messages: readonly HistoryMessage[], count: (segments: readonly Segment[]) => number): number {
    const countPieces = (roles: readonly HistoryMessage['role'][]): number =>
      count(this.#render(roles, true).flatMap(templateSegments));
    return countPieces(messages.map(({ role }) => role)) - countPieces([]);
  }

  /** Many templates reject a conversation that begins with the assistant. */
  canStartHistory({ role }: HistoryMessage): boolean {
    return role === 'user';
  }

  #render(roles: readonly HistoryMessage['role'][], withSystem: boolean): readonly string[] {
    const key = `${withSystem} ${roles.join(' ')}`;
    const known = this.#pieces.get(key);
    if (known !== undefined) return known;
    const pieces = this.#cut([
      ...(withSystem ? [{ name: 'the system message', role: 'system' as const }] : []),
      ...roles.map((role, index) => ({ name: `message ${index + 1} of the conversation`, role })),
      { name: 'the query', role: 'user' },
    ]);
    this.#pieces.set(key, pieces);
    return pieces;
  }

  #cut(places: readonly Place[]): readonly string[] {
    const marks = places.map(() => `mark${randomUUID().replaceAll('-', '')}mark`);
    const messages = places.map(({ role }, index) => ({ role, content: marks[index]! }));
    const [system, first, ...others] = messages;
    const isMerged = !this.#hasSystem && system?.role === 'system' && first !== undefined;
    const text = this.#template.render(
      isMerged ? [{ ...first, content: `${system.content}\n\n${first.content}` }, ...others] : messages,
    );
    const pieces: string[] = [];
    let end = 0;
    for (const [index, { name }] of places.entries()) {
      const mark = marks[index]!;
      const at = text.indexOf(mark);
      if (at === -1) throw this.#template.refusal(`it leaves out ${name}, or changes it`);
      if (at < end) throw this.#template.refusal(`it puts ${name} before what precedes it`);
      if (text.includes(mark, at + 1)) throw this.#template.refusal(`it puts ${name} twice`);
      pieces.push(text.slice(end, at));
      end = at + mark.length;
    }
    // A thought that the template opens would contain the answer prefix and use up the answer's few tokens.
    pieces.push(withoutOpenThought(text.slice(end)));
    if (pieces[0]!.startsWith(this.#bos)) pieces[0] = pieces[0]!.slice(this.#bos.length);
    return pieces;
  }

  /** Texts that end an answer; none if the engine already stops at the template's end-of-turn token. */
  async #findStopTexts(behindAnswer: string, engine: ChatEngine): Promise<readonly string[]> {
    const ending = behindAnswer.trimStart();
    const [[first] = []] = await engine.tokenize([{ text: ending, as: 'template' }]);
    if (first !== undefined && engine.info.endTokens.includes(first)) return [];
    const line = ending.split('\n')[0]!.trimEnd();
    const [text = ''] = first === undefined ? [] : await engine.detokenize([[first]]);
    if (line !== '' && text !== '') return [line];
    throw this.#template.refusal(
      `its turns end with ${JSON.stringify(line)}, but the model file names another end of turn, so the engine would not stop`,
    );
  }
}

function templateSegments(text: string): Segment[] {
  return text === '' ? [] : [{ role: 'template', text }];
}

/** Opens a prompt form for a model. @throws BenchError `bad-model` if the model's chat template cannot be used */
export async function openPromptForm(name: PromptForm['name'] | undefined, engine: ChatEngine): Promise<PromptForm> {
  return name === 'chat' ? ChatForm.open(engine) : plainForm;
}

/** Outside text on one line, with no added words. */
function contentSegment(role: 'system' | 'history' | 'query', content: string): Segment {
  return { role, text: oneLine(content) };
}
