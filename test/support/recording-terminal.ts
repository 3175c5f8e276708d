import type { Terminal } from '../../src/cli/terminal.ts';

/** Makes a terminal without a width and colours that records the output of a command. */
export function recordingTerminal(): { readonly terminal: Terminal; readonly texts: { out: string; err: string } } {
  const texts = { out: '', err: '' };
  const terminal: Terminal = {
    print: (text) => {
      texts.out += `${text}\n`;
    },
    remark: (text) => {
      texts.err += `${text}\n`;
    },
    stream: process.stdout,
    width: () => Number.POSITIVE_INFINITY,
    style: (_format, text) => text,
  };
  return { terminal, texts };
}
