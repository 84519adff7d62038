const MAX_CHARACTERS = 60;

/** Formats a value for an error message, cut after 60 characters. */
export function formatValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  try {
    const text = JSON.stringify(value);
    return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)}…`;
  } catch (error) {
    // JSON.stringify is recursive, while JSON.parse is not: it may have read this value.
    if (error instanceof RangeError) return 'a value that is nested too deeply to be shown';
    throw error;
  }
}
