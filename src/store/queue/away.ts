import { BenchError } from '../../base/bench-error.ts';

/** SQLSTATEs of a server that is ending, starting or full: the same call can succeed later. */
const passing = /^(?:08|53300|57P0[1235]|40001|40P01|55P03|57014|25P03)/;
/** Codes of the system where no server answers. */
const unreached = /^(?:ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EAI_AGAIN)/;
/** Of the client, which has no codes for them. */
const said = /^(?:Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired)/;

/** True where a server gave no answer that stands: it is away, starts, ends, or is too busy, and may be asked again. */
export function isAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isAway);
  if (!(error instanceof Error)) return false;
  if (error instanceof BenchError) return isAway(error.cause);
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? passing.test(code) || unreached.test(code) : said.test(error.message);
}

/** The reason in one line: clients give one error for each address of a host. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s*\n\s*/g, ' ');
}
