import { batches } from '../../base/batches.ts';

/** Maximum length of a chunk, and of its overlap with the previous chunk, which is part of it. */
const CHUNK_CHARACTERS = 500;
const OVERLAP_CHARACTERS = 50;
/** Maximum length of a piece, so that overlap and piece fit into a chunk. */
const PIECE_CHARACTERS = CHUNK_CHARACTERS - OVERLAP_CHARACTERS;

/** Separators from paragraphs to characters; each stays at the end of its piece. */
const SEPARATORS = ['\n\n', '\n', '。', '！', '？', '；', '. ', '! ', '? ', '; ', '，', '、', ', ', ' '];
const BOUNDARY = /[\s。！？；，、]/u;

/**
 * Splits a text into chunks of at most 500 characters (code points), at the coarsest possible separators; each chunk begins
 * with the last words of the one before, at most 50 characters. A short text is one chunk; a text without content has none.
 */
export function splitIntoChunks(text: string): string[] {
  if (text.trim() === '') return [];
  if (countCharacters(text) <= CHUNK_CHARACTERS) return [text];
  const chunks: string[] = [];
  let chunk = '';
  let repeated = '';
  for (const piece of splitPieces(text, 0)) {
    if (countCharacters(chunk) + countCharacters(piece) > CHUNK_CHARACTERS) {
      chunks.push(chunk);
      repeated = lastWords(chunk);
      chunk = repeated;
    }
    chunk += piece;
  }
  if (chunk.length > repeated.length) chunks.push(chunk);
  return chunks.map((part) => part.trim()).filter((part) => part !== '');
}

function countCharacters(text: string): number {
  return [...text].length;
}

/** Splits a text at the separators from `level` on into pieces that concatenate to the text. */
function splitPieces(text: string, level: number): string[] {
  const characters = [...text];
  if (characters.length <= PIECE_CHARACTERS) return [text];
  const separator = SEPARATORS[level];
  if (separator === undefined) {
    return batches(characters, PIECE_CHARACTERS).map((piece) => piece.join(''));
  }
  const parts = text.split(separator);
  return parts
    .map((part, index) => (index < parts.length - 1 ? part + separator : part))
    .filter((part) => part !== '')
    .flatMap((part) => splitPieces(part, level + 1));
}

/** Returns the last characters of a chunk, from their first word boundary on. */
function lastWords(chunk: string): string {
  const tail = [...chunk].slice(-OVERLAP_CHARACTERS).join('');
  const boundary = BOUNDARY.exec(tail);
  const words = boundary === null ? tail : tail.slice(boundary.index + boundary[0].length);
  return words.trim() === '' ? tail : words;
}
