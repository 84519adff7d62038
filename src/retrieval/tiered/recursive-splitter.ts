/** Most characters of a chunk, and of them the overlap with the chunk before. */
const CHUNK_CHARACTERS = 500;
const OVERLAP_CHARACTERS = 50;

/** Separators from paragraphs to characters; each stays at the end of its piece. */
const SEPARATORS = ['\n\n', '\n', '。', '！', '？', '；', '. ', '! ', '? ', '; ', '，', '、', ', ', ' ', ''] as const;
const BOUNDARY = /[\s。！？；，、]/u;

/**
 * Splits a text into chunks of at most 500 characters (code points), at the coarsest possible separators; each chunk begins
 * with the last words of the one before, at most 50 characters. A short text is one chunk; a text without content has none.
 */
export function splitRecursively(text: string): string[] {
  if (text.trim() === '') return [];
  if (charactersIn(text) <= CHUNK_CHARACTERS) return [text];
  const chunks: string[] = [];
  let chunk = '';
  let repeated = '';
  // Smaller than a chunk by the overlap, so that piece and overlap fit.
  for (const piece of piecesOf(text, CHUNK_CHARACTERS - OVERLAP_CHARACTERS, 0)) {
    if (charactersIn(chunk) + charactersIn(piece) > CHUNK_CHARACTERS) {
      chunks.push(chunk);
      repeated = tailOf(chunk);
      chunk = repeated;
    }
    chunk += piece;
  }
  if (chunk.length > repeated.length) chunks.push(chunk);
  return chunks.map((part) => part.trim()).filter((part) => part !== '');
}

/** Counts code points, not UTF-16 units or bytes. */
export function charactersIn(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Splits a text into pieces of at most `most` characters, which joined give the text. */
function piecesOf(text: string, most: number, level: number): string[] {
  if (charactersIn(text) <= most) return [text];
  const separator = SEPARATORS[level]!;
  if (separator === '') return cutEvery(most, text);
  const parts = text.split(separator);
  return parts
    .map((part, index) => (index < parts.length - 1 ? part + separator : part))
    .filter((part) => part !== '')
    .flatMap((part) => piecesOf(part, most, level + 1));
}

function cutEvery(most: number, text: string): string[] {
  const characters = [...text];
  const count = Math.ceil(characters.length / most);
  return Array.from({ length: count }, (_, index) => characters.slice(index * most, (index + 1) * most).join(''));
}

/** Returns the last characters of a chunk, from their first word boundary on. */
function tailOf(chunk: string): string {
  const tail = [...chunk].slice(-OVERLAP_CHARACTERS).join('');
  const boundary = BOUNDARY.exec(tail);
  const words = boundary === null ? tail : tail.slice(boundary.index + boundary[0].length);
  return words.trim() === '' ? tail : words;
}
