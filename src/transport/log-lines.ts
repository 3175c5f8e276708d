import { styleText } from 'node:util';
import { type DestinationStream, pino } from 'pino';

type Style = Parameters<typeof styleText>[0];

const STYLES: Readonly<Record<string, Style>> = { warn: 'yellow', error: 'red', fatal: ['bold', 'red'] };
/**
 * Characters that move the cursor, or colour or reorder the text on a terminal. A logged text may come from a client.
 */
const CONTROLS = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

/**
 * Creates a log for people. It writes each entry of pino as a line with its time, level, message and fields, and the
 * stack of an error below it.
 * @param coloured whether the terminal shows colours
 */
export function readableLines(output: DestinationStream, coloured: boolean): DestinationStream {
  const style = (format: Style | undefined, text: string) =>
    coloured && format !== undefined ? styleText(format, text, { validateStream: false }) : text;
  return {
    write(entry) {
      const { level, time, msg, err, pid: _, hostname: __, ...fields } = JSON.parse(entry);
      const label = pino.levels.labels[level] ?? String(level);
      const words = [
        style('dim', new Date(time).toISOString()),
        style(STYLES[label], label.toUpperCase().padEnd(5)),
        ...(msg === undefined ? [] : [visible(String(msg))]),
        ...(err === undefined ? [] : [style(STYLES[label], visible(summaryOf(err)))]),
        ...Object.entries(fields).map(([name, value]) => style('dim', `${visible(name)}=${visible(textOf(value))}`)),
      ];
      output.write(`${[words.join(' '), ...stackLines(err)].join('\n')}\n`);
    },
  };
}

/** Formats an error as `[Type: message (code)]`, with its causes. */
function summaryOf(err: unknown): string {
  if (!isObject(err)) return textOf(err);
  const { type, message, code, cause } = err;
  const own = `[${String(type ?? 'Error')}: ${String(message ?? '')}${code === undefined ? '' : ` (${String(code)})`}]`;
  return isObject(cause) ? `${own} because of ${summaryOf(cause)}` : own;
}

function stackLines(err: unknown): string[] {
  if (!isObject(err)) return [];
  const own = typeof err.stack === 'string' ? err.stack.split('\n').map((line) => `    ${visible(line)}`) : [];
  return [...own, ...stackLines(err.cause)];
}

/** Formats a value. Texts with spaces are quoted, so that it is clear where the next field begins. */
function textOf(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function visible(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
