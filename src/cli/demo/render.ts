import { INVOICE_STATUSES } from '../../domain/invoice/lifecycle.ts';
import { CURRENCY, decimalOf } from '../../domain/money.ts';
import { harmless, type Style, wrap } from '../terminal.ts';
import { deviationOf, type Progress } from './progress.ts';

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 80;
const [MARK, AMOUNT, SIGNING, TRANSMITTED, OUTCOME] = [2, 11, 10, 13, 18];
const FIXED = MARK + AMOUNT + SIGNING + TRANSMITTED + OUTCOME;

/**
 * Draws the live table: one row per invoice with the time at which it reached each status.
 * @param now time on the progress's monotonic clock, in milliseconds
 * @param width width of the terminal in columns
 */
export function table(all: readonly Progress[], now: number, width: number, style: Style): string {
  const longest = Math.max(...all.map(({ sample }) => sample.title.length));
  const title = Math.max(8, Math.min(longest, width - 1 - FIXED));
  const head =
    ' '.repeat(MARK) +
    'invoice'.padEnd(title) +
    CURRENCY.padStart(AMOUNT) +
    'signing'.padStart(SIGNING) +
    'transmitted'.padStart(TRANSMITTED) +
    'decided'.padStart(OUTCOME);
  return [style('dim', head), ...all.map((each) => row(each, now, title, style))].join('\n');
}

function row(progress: Progress, now: number, titleWidth: number, style: Style): string {
  const { sample, sentAt, ended } = progress;
  const deviation = ended ? deviationOf(progress) : null;
  const mark = ended
    ? style(deviation === null ? 'green' : 'red', deviation === null ? '✔' : '✘')
    : sentAt === null
      ? ' '
      : style('cyan', SPINNER[Math.floor((now - sentAt) / FRAME_MS) % SPINNER.length] ?? '');
  const title = clip(sample.title, titleWidth).padEnd(titleWidth);
  return [
    `${mark} `,
    sentAt === null ? style('dim', title) : title,
    decimalOf(sample.request.amount).padStart(AMOUNT),
    cell(progress, ['signing'], now, SIGNING, style),
    cell(progress, ['transmitted'], now, TRANSMITTED, style),
    cell(progress, ['accepted', 'rejected'], now, OUTCOME, style),
  ].join('');
}

/** Returns the time at which one of the statuses was reached, or the time elapsed while it is the next one. */
function cell(progress: Progress, statuses: string[], now: number, width: number, style: Style): string {
  const step = progress.steps.find(({ status }) => statuses.includes(status));
  if (step) {
    const text = statuses.length > 1 ? `${step.status} ${duration(step.after)}` : duration(step.after);
    if (statuses.length === 1) return text.padStart(width);
    return style(step.status === 'accepted' ? 'green' : 'yellow', text.padStart(width));
  }
  return style(
    'dim',
    (isAwaited(progress, statuses) ? `… ${duration(now - (progress.sentAt ?? now))}` : '').padStart(width),
  );
}

function isAwaited({ sentAt, ended, steps }: Progress, statuses: string[]): boolean {
  if (sentAt === null || ended) return false;
  const last = steps.at(-1)?.status ?? 'pending';
  const reached = (INVOICE_STATUSES as readonly string[]).indexOf(last);
  return statuses.includes(INVOICE_STATUSES[reached + 1] ?? '');
}

/**
 * Formats a change as a log line: `[  0.041 s] Conseil: accepted (DGI-TEST-…)`.
 * @param at milliseconds since the start of the demo
 */
export function logLine({ sample, id, dgiId, rejectionReason, failure }: Progress, status: string, at: number): string {
  const facts = {
    pending: id,
    accepted: dgiId,
    rejected: rejectionReason,
    failed: failure,
  }[status];
  const time = `[${(at / 1000).toFixed(3).padStart(7)} s]`;
  return `${time} ${sample.title}: ${status}${facts ? ` (${harmless(facts)})` : ''}`;
}

/** Returns the final remarks: rejections with their reasons, and deviations from the samples' expectations. */
export function remarks(all: readonly Progress[], width: number, style: Style): string[] {
  const mark = { expected: style('yellow', '!'), not: style('red', '✘') };
  return all.flatMap((progress) => {
    const { title } = progress.sample;
    const deviation = deviationOf(progress);
    if (deviation === null && progress.rejectionReason === null) return [];
    const text = deviation ?? `rejected as expected: ${progress.rejectionReason}`;
    // The mark takes two columns with its space; colour codes take none.
    const lines = wrap(harmless(`${title}: ${text}`), width - 2);
    return [`${deviation === null ? mark.expected : mark.not} ${lines.replaceAll('\n', '\n  ')}`];
  });
}

/** Formats a duration as `41 ms` or `1.3 s`. */
function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

function clip(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text;
}
