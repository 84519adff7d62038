import { Tokenizer } from '@huggingface/tokenizers';

type JsonObject = Readonly<Record<string, unknown>>;

// The package's type declarations cannot be resolved from an ES module.
const HubTokenizer = Tokenizer as new (
  document: object,
  config: object,
) => { encode(text: string, options?: { readonly add_special_tokens: boolean }): { readonly ids: number[] } };

/**
 * Makes a function that gives the token ids of a text, with the special tokens of the encoder around it. A text over the limit
 * is cut at its end, and the special tokens stay.
 * @param document `tokenizer.json` @param config `tokenizer_config.json`
 * @param maxTokens longest sequence, special tokens included
 */
export function embedderTokenizer(document: JsonObject, config: JsonObject, maxTokens: number) {
  const added = (document['added_tokens'] ?? []) as readonly { readonly special?: boolean }[];
  // A text that spells a special token holds those characters, not that token.
  const plain = new HubTokenizer(
    { ...document, added_tokens: added.filter(({ special }) => special !== true) },
    config,
  );
  const framing = new HubTokenizer(document, config);
  const bare = framing.encode('a', { add_special_tokens: false }).ids;
  const framed = framing.encode('a').ids;
  const start = Math.max(
    0,
    framed.findIndex((_, at) => bare.every((id, place) => framed[at + place] === id)),
  );
  const before = framed.slice(0, start);
  const after = framed.slice(start + bare.length);
  return (text: string) => {
    const { ids } = plain.encode(text, { add_special_tokens: false });
    return [...before, ...ids.slice(0, maxTokens - before.length - after.length), ...after];
  };
}
