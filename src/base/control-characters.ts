/** Characters that could manipulate a terminal: controls, directional marks, line separators, lone surrogates. */
export const controlCharacters = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\p{Cs}]/gu;
