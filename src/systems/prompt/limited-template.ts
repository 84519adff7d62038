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
const MOST_CHARACTERS = 2 ** 18;
const MOST_STEPS = 1_000_000;
/** Of a text, in characters, and of a list, in elements, at any step. */
const MOST_TEXT = 2 ** 20;
const MOST_ELEMENTS = 100_000;
const MOST_MS = 10_000;

/** Counts the steps of a template, and looks at the size of what each of them gives. */
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
    if (typeof value === 'string' && value.length > MOST_TEXT) {
      throw new RangeError(`it makes a text of more than ${MOST_TEXT} characters`);
    }
    const elements = Array.isArray(value) ? value.length : value instanceof Map ? value.size : 0;
    if (elements > MOST_ELEMENTS) throw new RangeError(`it makes a list of more than ${MOST_ELEMENTS} elements`);
    return result;
  }
}

/** Limits of a template, where they are not those of all. */
interface TemplateLimits {
  /** Default: 10 s, once to parse it and once for each rendering. */
  readonly mostMs?: number;
  /** Default: a million for each rendering. */
  readonly mostSteps?: number;
}

/** A Jinja template of somebody else's, rendered within limits of steps, sizes and time. */
export class LimitedTemplate {
  readonly #template: InstanceType<typeof Template>;
  readonly #mostMs: number;
  readonly #mostSteps: number;

  /** @throws Error in the words of the parser where it is no template; RangeError beyond a limit */
  constructor(source: string, { mostMs = MOST_MS, mostSteps = MOST_STEPS }: TemplateLimits = {}) {
    if (source.length > MOST_CHARACTERS) throw new RangeError(`it has more than ${MOST_CHARACTERS} characters`);
    this.#mostMs = mostMs;
    this.#mostSteps = mostSteps;
    this.#template = within(mostMs, () => new Template(source));
  }

  /** @throws Error in the template's own words where it refuses the values; RangeError beyond a limit */
  render(values: Readonly<Record<string, unknown>>): string {
    return within(this.#mostMs, () => {
      const environment = new Environment();
      for (const [name, value] of Object.entries({ ...globals, ...values })) environment.set(name, value);
      const { value } = new LimitedInterpreter(environment, this.#mostSteps).run(this.#template.parsed);
      return String(value);
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
  range,
};

function range(first: number, second?: number, step = 1): number[] {
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  if (step === 0) throw new RangeError('range() step must not be zero');
  const count = Math.max(0, Math.ceil((stop - start) / step));
  if (!(count <= MOST_ELEMENTS)) throw new RangeError(`it makes a list of more than ${MOST_ELEMENTS} elements`);
  return Array.from({ length: count }, (_, index) => start + index * step);
}

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
