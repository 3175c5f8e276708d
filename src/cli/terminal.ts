import { styleText } from 'node:util';

/** The output channels of a command. */
export interface Terminal {
  /** Writes a result to standard output, one line or several. */
  print(text: string): void;
  /** Writes a remark or an error to standard error. */
  remark(text: string): void;
  /** Standard output itself, for live displays. */
  readonly stream: NodeJS.WriteStream;
  /** Returns the columns of the terminal; infinite when the output is not a terminal. */
  readonly width: () => number;
  /** Colours a text if standard output is a terminal that supports colours and NO_COLOR is not set. */
  readonly style: Style;
}

export type Style = (format: 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan', text: string) => string;

export function processTerminal(): Terminal {
  const { stdout, stderr } = process;
  for (const stream of [stdout, stderr]) {
    // EPIPE means that the reader has closed the pipe (`| head`). The command still runs to its end. If a command has
    // its own error listener, it handles all errors.
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && stream.listenerCount('error') === 1) throw error;
    });
  }
  return {
    print: (text) => void stdout.write(`${text}\n`),
    remark: (text) => void stderr.write(`${text}\n`),
    stream: stdout,
    width: () => (stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY),
    style: (format, text) =>
      stdout.isTTY && stdout.hasColors() ? styleText(format, text, { validateStream: false }) : text,
  };
}

/**
 * Replaces control characters, which could manipulate the terminal, by `?`. For untrusted text such as a certificate's
 * subject.
 */
export function harmless(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression searches for them
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '?');
}

/** Aligns the columns of rows, two spaces apart. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Wraps a text at spaces to lines of at most `width` columns; a longer word gets a line of its own. */
export function wrap(text: string, width: number): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.join('\n');
}

/** Formats a time as `2026-11-21 12:30 UTC`. */
export function minute(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
