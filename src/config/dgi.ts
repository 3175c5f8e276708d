import { z } from 'zod';
import { type Given, has, type Rule, type Settings, schedule } from './values.ts';

// The settings DGI_*: the connection to the live authority.

/** An address of the authority. It may hold no credential: messages and logs show it. */
const authorityUrl = z.url({ protocol: /^https$/, error: 'must be an https:// URL' }).refine(
  (text) => {
    const url = URL.parse(text);
    return url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  },
  { error: 'must have no user, password, query or fragment' },
);
/** A secret of Standard Webhooks: 24 to 64 bytes. */
const callbackSecret = z.string().refine(
  (text) => {
    const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
    const { length } = Buffer.from(encoded, 'base64');
    return length >= 24 && length <= 64;
  },
  { error: 'must be whsec_ followed by the base64 of 24 to 64 bytes' },
);

/** The settings and their values. */
export const DGI_SETTINGS = {
  DGI_URL: authorityUrl.transform((url) => url.replace(/\/+$/, '')).optional(),
  DGI_CA: z.string().optional(),
  DGI_CLIENT_P12: z.string().optional(),
  DGI_CLIENT_P12_PASSPHRASE: z.string().optional(),
  DGI_TOKEN_URL: authorityUrl.optional(),
  DGI_CLIENT_ID: z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, { error: 'must be printable ASCII without spaces' })
    .optional(),
  DGI_CLIENT_KEY: z.string().optional(),
  DGI_CALLBACK_SECRET: callbackSecret.optional(),
  DGI_CONCURRENCY: z.coerce
    .number({ error: 'must be a number from 1 to 1000' })
    .int({ error: 'must be a number from 1 to 1000' })
    .min(1, { error: 'must be a number from 1 to 1000' })
    .max(1000, { error: 'must be a number from 1 to 1000' })
    .default(16),
  DGI_RETRY_SCHEDULE: schedule.default([0, 60_000, 300_000, 1_800_000, 7_200_000]),
};

/** The address that the server listens on by default. */
export const DEFAULT_HOST = '127.0.0.1';

/**
 * Whether live keys can be used safely at the service's address: it must use HTTPS, or belong to this machine.
 * @param publicUrl null if PUBLIC_URL is not set; then clients use `host`
 */
export function isSafeAddress(publicUrl: string | null, host: string): boolean {
  const url = publicUrl === null ? null : URL.parse(publicUrl);
  if (url?.protocol === 'https:') return true;
  return /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(url ? url.hostname : host);
}

/** The rules between these settings, and between them and PUBLIC_URL. */
export const DGI_RULES: readonly Rule[] = [
  ...(['DGI_CA', 'DGI_CLIENT_P12', 'DGI_TOKEN_URL', 'DGI_CALLBACK_SECRET'] as const).map(
    (setting) => [setting, (env: Settings) => has(env, setting) && !has(env, 'DGI_URL'), 'requires DGI_URL'] as const,
  ),
  [
    'DGI_CLIENT_P12_PASSPHRASE',
    (env) => has(env, 'DGI_CLIENT_P12_PASSPHRASE') && !has(env, 'DGI_CLIENT_P12'),
    'requires DGI_CLIENT_P12',
  ],
  ...(['DGI_CLIENT_ID', 'DGI_CLIENT_KEY'] as const).flatMap((setting) => [
    [
      setting,
      (env: Settings) => has(env, 'DGI_TOKEN_URL') && !has(env, setting),
      'is required with DGI_TOKEN_URL',
    ] as const,
    [setting, (env: Settings) => has(env, setting) && !has(env, 'DGI_TOKEN_URL'), 'requires DGI_TOKEN_URL'] as const,
  ]),
  [
    'PUBLIC_URL',
    (env) => has(env, 'DGI_URL') && !isSafeAddress(env.PUBLIC_URL ?? null, env.HOST ?? DEFAULT_HOST),
    'must be an https:// URL with DGI_URL, because live keys are used there; only on this machine may it be http',
  ],
];

/** Returns the files that the settings name, independent of the other settings. */
export function authorityFiles(
  set: Given<'DGI_CA' | 'DGI_CLIENT_P12' | 'DGI_CLIENT_P12_PASSPHRASE' | 'DGI_CLIENT_KEY'>,
) {
  return {
    /** PEM file of the roots of the authority; null for those of the system. */
    ca: set.DGI_CA ?? null,
    /** The certificate that the service presents to the authority. */
    clientP12: set.DGI_CLIENT_P12
      ? { file: set.DGI_CLIENT_P12, passphrase: set.DGI_CLIENT_P12_PASSPHRASE ?? '' }
      : null,
    /** PEM file of the key that signs the requests for tokens. */
    clientKey: set.DGI_CLIENT_KEY ?? null,
  };
}

/** @returns the connection to the live authority; null if none is configured */
export function authorityOf(env: z.output<z.ZodObject<typeof DGI_SETTINGS>>) {
  if (env.DGI_URL === undefined) return null;
  const { clientKey, ...files } = authorityFiles(env);
  return {
    /** Without a trailing slash. */
    url: env.DGI_URL,
    ...files,
    /** null if the authority requires no token. `keyFile`: the key that signs the requests for tokens, PEM. */
    token: env.DGI_TOKEN_URL
      ? { url: env.DGI_TOKEN_URL, clientId: env.DGI_CLIENT_ID ?? '', keyFile: clientKey ?? '' }
      : null,
    /** `whsec_…`; null if callbacks are not accepted. */
    callbackSecret: env.DGI_CALLBACK_SECRET ?? null,
    /** Maximum number of submissions in progress at the same time, of all workers together. */
    concurrency: env.DGI_CONCURRENCY,
  };
}
