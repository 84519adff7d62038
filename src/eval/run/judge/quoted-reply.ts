/**
 * The beginning of what a server said, as a JSON string of one line, without the key that it was sent, which some repeat. It is
 * shown, never stored: it may quote the texts that the server was sent.
 */
export function quotedReply(text: string, key: string | undefined, mostCharacters: number): string {
  const shown = key === undefined ? text : text.replaceAll(key, '…');
  return JSON.stringify(shown.replaceAll(/\s+/g, ' ').trim().slice(0, mostCharacters));
}
