/** Controls, directional marks and overrides, line separators, and halves of surrogate pairs: what could steer a terminal. */
export const controlCharacters = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\p{Cs}]/gu;
