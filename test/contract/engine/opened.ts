import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { EngineRequest } from '../../../src/engine/engine-adapter.ts';
import type { EngineSession } from '../../../src/engine/engine-session.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { type Prompts, promptsOf, SESSIONS, type Subject, WINDOW } from './subjects.ts';

/** An engine and prompts for all tests of a subject, and an empty session for each. */
export interface Opened extends Prompts {
  readonly engine: Engine;
  readonly session: EngineSession;
}

export function openEngine({ opener, model }: Subject, request: Partial<EngineRequest> = {}): Promise<Engine> {
  return opener.open({ model, sessions: SESSIONS, contextTokens: WINDOW, ...request });
}

/** Opens an engine around the tests of a subject. */
export function openedFor(subject: Subject, request = (): Partial<EngineRequest> => ({})): Opened {
  const opened = {} as { -readonly [Key in keyof Opened]: Opened[Key] };
  beforeAll(async () => {
    opened.engine = await openEngine(subject, request());
    Object.assign(opened, await promptsOf(opened.engine));
  });
  afterAll(() => opened.engine[Symbol.asyncDispose]());
  beforeEach(async () => {
    opened.session = await opened.engine.openSession('contract');
  });
  afterEach(() => opened.session[Symbol.asyncDispose]());
  return opened;
}
