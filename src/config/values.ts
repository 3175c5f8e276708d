import { z } from 'zod';

// Values of settings, and rules between them.

/** The settings are invalid. `message` lists every problem, one per line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const duration = /^(\d+)(ms|s|m|h|d)$/;
export const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `5m` → milliseconds; NaN if the text is not a duration. */
export function milliseconds(text: string): number {
  const [, amount, unit] = duration.exec(text.trim()) ?? [];
  return Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

/** `0s,1m,5m` → milliseconds. */
export const schedule = z.string().transform((text, context) => {
  const delays = text.split(',').map(milliseconds);
  if (delays.some(Number.isNaN))
    context.addIssue({ code: 'custom', message: 'must be durations separated by commas, such as 0s,1m,2h' });
  return delays;
});

/** `10s` → milliseconds. */
export const shortTime = z
  .string()
  .transform(milliseconds)
  .refine((time) => time <= UNIT_MS.h, { error: 'must be a duration such as 10s, at most 1h' });

/** The settings as given: only those that are set, and not empty. */
export type Settings = Readonly<Record<string, string | undefined>>;

/** Some settings as they are given, or as their schemas read them. */
export type Given<Name extends string> = Readonly<{ [N in Name]?: string | undefined }>;

/**
 * A rule between settings: the setting that the message is about, when the rule is broken, and the message. It looks at
 * the settings as given, so that broken rules are reported together with wrong values.
 */
export type Rule = readonly [setting: string, isBroken: (env: Settings) => boolean, message: string];

export function has(env: Settings, setting: string): boolean {
  return env[setting] !== undefined;
}
