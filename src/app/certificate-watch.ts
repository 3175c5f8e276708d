import type { Logger } from 'pino';
import type { CertificateFinding } from '../adapters/signing-key/certificate-findings.ts';

const LOOK_MS = 6 * 3_600_000;

/** The findings about one certificate or key, with the fields of their log entries. */
export interface CertificateLook {
  readonly fields: Readonly<Record<string, string>>;
  readonly findings: readonly CertificateFinding[];
}

/**
 * Checks certificates now and every 6 hours, and logs findings that operators should act on. A finding about the
 * approaching end (30, 7 or 1 days before) is logged once, any other finding at each check.
 * @returns a function that stops the checks
 */
export function watchCertificates(look: (now: Date) => readonly CertificateLook[], log: Logger): () => void {
  let known = new Set<string>();
  const report = () => {
    const seen = new Set<string>();
    for (const { fields, findings } of look(new Date())) {
      for (const { level, text, period } of findings) {
        if (period !== undefined) seen.add(period);
        if (period === undefined || !known.has(period)) log[level](fields, text);
      }
    }
    known = seen;
  };
  report();
  const timer = setInterval(report, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
