const MAX_SHOWN = 60;

/** Formats a value for an error message, in at most 60 characters. */
export function formatValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  try {
    const text = JSON.stringify(value);
    return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
  } catch (error) {
    // It was parsed without a stack, and is written with one.
    if (error instanceof RangeError) return 'a value that is nested too deeply to be shown';
    throw error;
  }
}
