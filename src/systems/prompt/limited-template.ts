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

/** The package's classes: Node's resolution does not find their own types, whose files are named without an ending. */
const { Environment, Interpreter, Template } = jinja as unknown as {
  readonly Environment: new () => JinjaEnvironment;
  readonly Interpreter: new (environment: JinjaEnvironment) => JinjaInterpreter;
  readonly Template: new (source: string) => { readonly parsed: unknown };
};

/** Templates in use have at most some 30 kB, and take some 100 steps for a message. */
const MAX_CHARACTERS = 2 ** 18;
const MAX_STEPS = 1_000_000;
/** Of a text, in characters, and of a list, in elements, at any step. */
const MAX_TEXT = 2 ** 20;
const MAX_ELEMENTS = 100_000;
const MAX_MS = 10_000;

/** Counts the steps of a template, and limits the size of each result. */
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

/** A Jinja template of unknown origin, rendered within limits of steps, sizes and time. */
export class LimitedTemplate {
  readonly #template: InstanceType<typeof Template>;
  readonly #mostMs: number;
  readonly #mostSteps: number;

  /** @param limits for parsing and each rendering @throws Error of the parser; RangeError beyond a limit */
  constructor(source: string, { mostMs = MAX_MS, mostSteps = MAX_STEPS } = {}) {
    if (source.length > MAX_CHARACTERS) throw new RangeError(`it has more than ${MAX_CHARACTERS} characters`);
    this.#mostMs = mostMs;
    this.#mostSteps = mostSteps;
    this.#template = within(mostMs, () => new Template(source));
  }

  /** @throws Error in the template's own words where it refuses the values; RangeError beyond a limit */
  render(values: Readonly<Record<string, unknown>>): string {
    return within(this.#mostMs, () => {
      const environment = new Environment();
      for (const [name, value] of Object.entries({ ...globals, ...values })) environment.set(name, value);
      return String(new LimitedInterpreter(environment, this.#mostSteps).run(this.#template.parsed).value);
    });
  }
}

/** The names that every template finds, as in Jinja and in the library of chat templates. */
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

/** A context takes milliseconds to make, and one serves for all calls. */
const watched: { act?: () => void } = {};
const context = createContext(watched);
const call = new Script('act()');

/** Calls `act` and ends it after a time, whatever it is doing: the watch is V8's own, and no code can catch its end. */
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
