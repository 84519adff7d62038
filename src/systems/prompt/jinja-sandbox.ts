import { createContext, Script } from 'node:vm';
import * as jinja from '@huggingface/jinja';

interface JinjaValue {
  readonly value: unknown;
}

interface JinjaEnvironment {
  set(name: string, value: unknown): unknown;
}

interface JinjaInterpreter {
  evaluate(statement: unknown, environment: unknown): JinjaValue;
  run(program: unknown): JinjaValue;
}

/** Classes of the package. Their types are declared here because Node cannot resolve the package's own type files. */
const { Environment, Interpreter, Template } = jinja as unknown as {
  readonly Environment: new () => JinjaEnvironment;
  readonly Interpreter: new (environment: JinjaEnvironment) => JinjaInterpreter;
  readonly Template: new (source: string) => { readonly parsed: unknown };
};

/** Real templates have at most about 30 kB and take about 100 steps per message. */
const MAX_CHARACTERS = 2 ** 18;
const MAX_STEPS = 1_000_000;
/** Maximum size of any intermediate text (characters) or list (elements). */
const MAX_TEXT = 2 ** 20;
const MAX_ELEMENTS = 100_000;
const MAX_MS = 10_000;

/** Limits the number of steps and the size of each intermediate result. */
class LimitedInterpreter extends Interpreter {
  readonly #mostSteps: number;
  #steps = 0;

  constructor(environment: JinjaEnvironment, mostSteps: number) {
    super(environment);
    this.#mostSteps = mostSteps;
  }

  override evaluate(...evaluation: Parameters<JinjaInterpreter['evaluate']>): JinjaValue {
    if (++this.#steps > this.#mostSteps) throw new RangeError(`it takes more than ${this.#mostSteps} steps`);
    const result = super.evaluate(...evaluation);
    const { value } = result;
    if (typeof value === 'string' && value.length > MAX_TEXT) {
      throw new RangeError(`it makes a text of more than ${MAX_TEXT} characters`);
    }
    requireShortList(Array.isArray(value) ? value.length : value instanceof Map ? value.size : 0);
    return result;
  }
}

function requireShortList(elements: number): void {
  if (!(elements <= MAX_ELEMENTS)) throw new RangeError(`it makes a list of more than ${MAX_ELEMENTS} elements`);
}

/**
 * Renders an untrusted Jinja template within limits on steps, sizes and time.
 * @param limits of parsing and of each rendering
 * @returns renders values. @throws Error with the template's message if it rejects them, RangeError if a limit is exceeded
 * @throws Error of the parser, RangeError if a limit is exceeded
 */
export function sandboxTemplate(source: string, { mostMs = MAX_MS, mostSteps = MAX_STEPS } = {}) {
  if (source.length > MAX_CHARACTERS) throw new RangeError(`it has more than ${MAX_CHARACTERS} characters`);
  const { parsed } = within(mostMs, () => new Template(source));
  return (values: Readonly<Record<string, unknown>>): string =>
    within(mostMs, () => {
      const environment = new Environment();
      for (const [name, value] of Object.entries({ ...globals, ...values })) environment.set(name, value);
      return String(new LimitedInterpreter(environment, mostSteps).run(parsed).value);
    });
}

/** Names defined in every template, as in Jinja and in the chat templates of transformers. */
const globals: Readonly<Record<string, unknown>> = {
  false: false,
  true: true,
  none: null,
  False: false,
  True: true,
  None: null,
  raise_exception: (message: string) => {
    throw new Error(message);
  },
  range: (first: number, second?: number, step = 1): number[] => {
    const [start, stop] = second === undefined ? [0, first] : [first, second];
    if (step === 0) throw new RangeError('range() step must not be zero');
    const count = Math.max(0, Math.ceil((stop - start) / step));
    requireShortList(count);
    return Array.from({ length: count }, (_, index) => start + index * step);
  },
};

/** Shared by all calls, since creating a context takes milliseconds. */
const watched: { act?: () => void } = {};
const context = createContext(watched);
const call = new Script('act()');

/** Calls `act`, and stops it after `mostMs`. V8 enforces the timeout, and the code in `act` cannot catch it. */
function within<T>(mostMs: number, act: () => T): T {
  let result: T;
  watched.act = () => {
    result = act();
  };
  try {
    call.runInContext(context, { timeout: mostMs });
    return result!;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw cause;
    throw new RangeError(`it takes more than ${mostMs / 1000} s`, { cause });
  } finally {
    delete watched.act;
  }
}
