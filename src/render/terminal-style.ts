import { styleText } from 'node:util';

/** The terminal's width in columns, and whether it shows colours. */
export interface Terminal {
  readonly width: number;
  readonly colour: boolean;
}

export function emphasised(text: string, page: Terminal): string {
  return page.colour ? styleText('bold', text, { validateStream: false }) : text;
}

export function coloured(text: string, colour: 'green' | 'red' | 'yellow' | 'cyan' | 'gray', page: Terminal): string {
  return page.colour ? styleText(colour, text, { validateStream: false }) : text;
}
