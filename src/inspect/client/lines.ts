/** The lines of a stream, each as soon as it is whole. */
export async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
    const parts = rest.split('\n');
    rest = parts.pop() ?? '';
    yield* parts.filter((part) => part !== '');
    if (done) {
      if (rest !== '') yield rest;
      return;
    }
  }
}
