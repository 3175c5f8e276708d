import { z } from 'zod';
import { authorityFiles, authorityOf, DEFAULT_HOST, DGI_RULES, DGI_SETTINGS } from './config/dgi.ts';
import { SIGNING_RULES, SIGNING_SETTINGS, signingFiles, signingOf } from './config/signing.ts';
import { TELEMETRY_RULES, TELEMETRY_SETTINGS, tracingOf } from './config/telemetry.ts';
import { unknownNames } from './config/unknown-names.ts';
import {
  ConfigError,
  has,
  milliseconds,
  type Rule,
  type Settings,
  schedule,
  shortTime,
  UNIT_MS,
} from './config/values.ts';
import { asciiAddress, mailAddress } from './domain/email-address.ts';
import { INSTALLATION_NAME } from './domain/installation-name.ts';

export { loadEnvFile } from './config/env-file.ts';
export { ConfigError };

const port = z.coerce
  .number({ error: 'must be a port number from 0 (any free port) to 65535' })
  .int()
  .min(0)
  .max(65_535);
/** Default limit of a tenant, as a multiple of the limit of a secret key. */
const KEYS_WORTH = 10;
/** Limit of an address for files that are the same for everybody, as a multiple of its limit for other requests. */
const READERS = 10;
const connections = z.coerce.number({ error: 'must be a number of connections' }).int().positive();
const perMinute = z.coerce.number({ error: 'must be a number of requests per minute' }).int().positive();
const yesOrNo = z.stringbool({ error: 'must be true or false' });
const smtpUrl = z.url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// URL' });
const senderAddress = z.string().transform((text, context) => {
  const address = asciiAddress(text.trim());
  if (address === null)
    context.addIssue({ code: 'custom', message: 'must be an ASCII e-mail address without a display name' });
  return address ?? '';
});
/** `a@b.ma,@example.com` */
const mailAllowance = z.string().transform((text, context) =>
  text.split(',').map((part) => {
    const entry = part.trim();
    const address = mailAddress(entry.startsWith('@') ? `any${entry}` : entry);
    if (address === null)
      context.addIssue({ code: 'custom', message: 'must be e-mail addresses or @domains, separated by commas' });
    return (entry.startsWith('@') ? (address ?? '').slice('any'.length) : (address ?? '')).toLowerCase();
  }),
);
const origin = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
  .transform((url) => url.replace(/\/+$/, ''))
  // All paths of the service begin at the root, and the URL is shown to everybody.
  .refine((url) => /^https?:\/\/[^/?#@\\]+$/i.test(url), {
    error: 'must be scheme and host alone, such as https://factures.example.ma, without path, query and password',
  });

const masterKey = z.string().regex(/^[0-9a-fA-F]{64}$/, { error: 'must be 32 bytes as 64 hexadecimal digits' });

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Every setting: its variable, its value and its default. All other lists of settings are made of it. */
export const SETTINGS = z.object({
  PORT: port.default(3000),
  HOST: z.string().default(DEFAULT_HOST),
  METRICS_PORT: port.optional(),
  PUBLIC_URL: origin.optional(),
  SANDBOX_URL: origin.optional(),
  INSTALLATION_NAME: z
    .string()
    .regex(INSTALLATION_NAME, { error: 'must be a lower-case letter and up to 11 more letters and digits' })
    .optional(),
  DATA_DIR: z.string().min(1).default('./data'),
  MONGODB_URL: z.string().startsWith('mongodb', { error: 'must be a mongodb:// or mongodb+srv:// URL' }).optional(),
  ROLE: z.enum(['all', 'api', 'worker'], { error: 'must be all, api or worker' }).default('all'),
  MASTER_KEY: masterKey.optional(),
  MASTER_KEY_PREVIOUS: masterKey.optional(),
  TRUST_PROXY: z
    .string()
    .regex(/^(true|false|[0-9]|1[0-6])$/, {
      error: 'must be true, false or the number of proxies in front of the service (at most 16)',
    })
    .transform((text) => (text === 'true' ? 1 : text === 'false' ? 0 : Number(text)))
    .default(0),
  ...SIGNING_SETTINGS,
  CHROMIUM_PATH: z.string().optional(),
  SMTP_URL: smtpUrl.optional(),
  MAIL_FROM: senderAddress.optional(),
  TEST_MAIL_ALLOW: mailAllowance.default([]),
  RATE_LIMIT_SECRET: perMinute.default(100),
  RATE_LIMIT_TENANT: perMinute.optional(),
  RATE_LIMIT_PUBLISHABLE: perMinute.default(300),
  RATE_LIMIT_ADDRESS: perMinute.default(100),
  MAX_CONNECTIONS: connections.optional(),
  MAX_CONNECTIONS_PER_ADDRESS: connections.optional(),
  ...DGI_SETTINGS,
  ...TELEMETRY_SETTINGS,
  WEBHOOK_RETRY_SCHEDULE: schedule
    .refine((delays) => delays[0] === 0, { error: 'must start with 0s, because the first attempt is immediate' })
    .default([0, 300_000, 1_800_000, 7_200_000, 21_600_000]),
  WEBHOOK_RETENTION: z
    .string()
    .transform(milliseconds)
    .refine((period) => period >= UNIT_MS.d, { error: 'must be a duration of at least 1d, such as 30d' })
    .default(30 * UNIT_MS.d),
  RETENTION_YEARS: z.coerce
    .number({ error: 'must be a number of years from 1 to 100' })
    .int()
    .min(1)
    .max(100)
    .default(10),
  ALLOW_INSECURE_WEBHOOKS: yesOrNo.default(false),
  // Both are safe by default: introspection needs a credential and shows a public schema only, and GraphiQL does
  // nothing without a credential.
  GRAPHQL_INTROSPECTION: yesOrNo.default(true),
  GRAPHIQL: yesOrNo.optional(),
  GRAPHQL_OPERATIONS: z.string().optional(),
  GRAPHQL_OPERATIONS_ONLY: yesOrNo.default(false),
  KEEP_ALIVE_TIMEOUT: shortTime.refine((time) => time >= 1000, { error: 'must be at least 1s' }).optional(),
  SHUTDOWN_DELAY: shortTime.default(0),
  SHUTDOWN_GRACE: shortTime.default(10_000),
  LOG_LEVEL: z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` }).default('info'),
});

/** The names of all settings. */
export const SETTING_NAMES: readonly string[] = Object.keys(SETTINGS.shape);

/**
 * How long idle connections stay open, milliseconds. A balancer must close them first, or it sends a request into a
 * connection that is being closed. Balancers close them after at most 60 s by default; Google Cloud's do so after 600
 * s, which cannot be changed.
 */
const KEEP_ALIVE_MS = { direct: 75_000, behindProxy: 620_000 } as const;

const configuration = SETTINGS.transform((env) => ({
  port: env.PORT,
  host: env.HOST,
  /** The port at which a worker answers monitoring systems; null for none. */
  metricsPort: env.METRICS_PORT ?? null,
  /** Without a trailing slash; null for the address that the server listens on. */
  publicUrl: env.PUBLIC_URL ?? null,
  /** The address of each environment, without a trailing slash; null if every address serves both environments. */
  sites:
    env.PUBLIC_URL !== undefined && env.SANDBOX_URL !== undefined
      ? { live: env.PUBLIC_URL, test: env.SANDBOX_URL }
      : null,
  /** The name in keys and client_secrets, by which a proxy routes; null for none. */
  installationName: env.INSTALLATION_NAME ?? null,
  dataDir: env.DATA_DIR,
  /** null for the embedded engine. */
  mongodbUrl: env.MONGODB_URL ?? null,
  role: env.ROLE,
  /** 32 bytes in hex; null if the key is generated and stored under `dataDir`. */
  masterKey: env.MASTER_KEY ?? null,
  /** The key that `masterKey` replaces, while the keys of the data may be sealed by either of them; null otherwise. */
  previousMasterKey: env.MASTER_KEY_PREVIOUS ?? null,
  /** Number of proxies in front of the service that set `X-Forwarded-*`. */
  trustedProxies: env.TRUST_PROXY,
  signing: signingOf(env),
  chromiumPath: env.CHROMIUM_PATH ?? null,
  mail: {
    /** Includes the credential; null if mails are written to the outbox folder. */
    smtpUrl: env.SMTP_URL ?? null,
    /** The sender's address; not null if `smtpUrl` is set. */
    from: env.MAIL_FROM ?? null,
    /** Recipients that receive mails of test invoices: addresses or `@domain`, in lower case. */
    testAllow: env.TEST_MAIL_ALLOW,
  },
  /** Requests per minute. */
  rateLimits: {
    secret: env.RATE_LIMIT_SECRET,
    tenant: env.RATE_LIMIT_TENANT ?? KEYS_WORTH * env.RATE_LIMIT_SECRET,
    publishable: env.RATE_LIMIT_PUBLISHABLE,
    address: env.RATE_LIMIT_ADDRESS,
    common: READERS * env.RATE_LIMIT_ADDRESS,
  },
  /** Connections that a process accepts at most; null: derived from the limit of open files. */
  connections: { total: env.MAX_CONNECTIONS ?? null, perAddress: env.MAX_CONNECTIONS_PER_ADDRESS ?? null },
  /** The live authority; null if there is none, so that there are no live keys. */
  authority: authorityOf(env),
  dgiRetrySchedule: env.DGI_RETRY_SCHEDULE,
  /** The delay before each attempt of a delivery; the first is 0. */
  webhookRetrySchedule: env.WEBHOOK_RETRY_SCHEDULE,
  /** How long events and deliveries are stored, milliseconds. */
  webhookRetention: env.WEBHOOK_RETENTION,
  /**
   * How long legal documents of an erased tenant are kept, in years after the year of their issue. Documents that are
   * already kept have their time stored with them, so a lower number later does not shorten it.
   */
  retentionYears: env.RETENTION_YEARS,
  /** Whether webhooks may be sent to `http:` URLs and private addresses, for development. */
  allowInsecureWebhooks: env.ALLOW_INSECURE_WEBHOOKS,
  graphql: {
    /** Whether clients may read the schema by introspection. */
    introspection: env.GRAPHQL_INTROSPECTION,
    /** Whether browsers get GraphiQL. Default: true, unless `operationsOnly`, which refuses what users type there. */
    graphiql: env.GRAPHIQL ?? !env.GRAPHQL_OPERATIONS_ONLY,
    /** JSON file of the operations that clients may send by their digest. */
    operations: env.GRAPHQL_OPERATIONS ?? null,
    /** Whether all other operations are refused. */
    operationsOnly: env.GRAPHQL_OPERATIONS_ONLY,
  },
  /** How long an idle connection of a client stays open, milliseconds. */
  keepAliveMs: env.KEEP_ALIVE_TIMEOUT ?? (env.TRUST_PROXY > 0 ? KEEP_ALIVE_MS.behindProxy : KEEP_ALIVE_MS.direct),
  /**
   * Times of a shutdown, milliseconds: how long the service accepts requests after `/readyz` reports the shutdown, and
   * how long requests in flight may take after that.
   */
  shutdown: { delayMs: env.SHUTDOWN_DELAY, graceMs: env.SHUTDOWN_GRACE },
  logLevel: env.LOG_LEVEL,
  /** null if nothing is traced. */
  tracing: tracingOf(env),
}));

/** The settings of the service (docs/operations.md, "Settings"). Durations are in milliseconds. */
export type Config = Readonly<z.output<typeof configuration>>;

/** The rules between settings. */
const RULES: readonly Rule[] = [
  [
    'MASTER_KEY',
    (env) => has(env, 'MONGODB_URL') && !has(env, 'MASTER_KEY'),
    'is required with MONGODB_URL, and must be the same for every process',
  ],
  [
    'MASTER_KEY_PREVIOUS',
    (env) => has(env, 'MASTER_KEY_PREVIOUS') && !has(env, 'MASTER_KEY'),
    'requires MASTER_KEY, the key that replaces it',
  ],
  [
    'SANDBOX_URL',
    (env) => has(env, 'SANDBOX_URL') && !has(env, 'PUBLIC_URL'),
    'requires PUBLIC_URL, the address of the live environment',
  ],
  ['MAIL_FROM', (env) => has(env, 'SMTP_URL') && !has(env, 'MAIL_FROM'), 'is required with SMTP_URL'],
  [
    'GRAPHQL_OPERATIONS',
    (env) => yesOrNo.safeParse(env.GRAPHQL_OPERATIONS_ONLY).data === true && !has(env, 'GRAPHQL_OPERATIONS'),
    'is required with GRAPHQL_OPERATIONS_ONLY: it lists the allowed operations',
  ],
  [
    'ROLE',
    (env) => !has(env, 'MONGODB_URL') && has(env, 'ROLE') && env.ROLE !== 'all',
    'must be all if MONGODB_URL is not set',
  ],
  [
    'MAX_CONNECTIONS_PER_ADDRESS',
    (env) => has(env, 'MAX_CONNECTIONS_PER_ADDRESS') && !/^(false|0)?$/.test(env.TRUST_PROXY ?? ''),
    'cannot be combined with TRUST_PROXY: all connections come from the proxies then',
  ],
  [
    'METRICS_PORT',
    (env) => has(env, 'METRICS_PORT') && env.ROLE !== 'worker',
    'is for ROLE=worker; other processes have /metrics at PORT',
  ],
  ...SIGNING_RULES,
  ...DGI_RULES,
  ...TELEMETRY_RULES,
];

/** Settings whose values no message shows: keys, passphrases, and URLs, which may contain a password. */
const MAY_HOLD_SECRETS = /KEY|PASSPHRASE|PKCS11|CALLBACK_SECRET|URL|ENDPOINT|HEADERS/;

/**
 * Reads the settings from environment variables, to which {@link loadEnvFile} adds those of a file. No other file reads
 * settings from `process.env`.
 * @throws {ConfigError} naming every invalid variable
 */
export function readConfig(env: Settings = process.env): Config {
  const set = given(env);
  const parsed = configuration.safeParse(set);
  const broken = RULES.filter(([, isBroken]) => isBroken(set)).map(([name, , message]) => ({ path: [name], message }));
  if (parsed.success && broken.length === 0) return parsed.data;
  const problems = [...(parsed.error?.issues ?? []), ...broken].map(({ path, message }) => {
    const name = path.join('.');
    const value = MAY_HOLD_SECRETS.test(name) ? undefined : set[name];
    return `${name} ${message}${message.startsWith('must') && value !== undefined ? `, not '${value}'` : ''}`;
  });
  throw new ConfigError(problems.join('\n'));
}

/** Returns the settings without empty variables, which count as unset, as in shell scripts. */
function given(env: Settings): Settings {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
}

/** See {@link unknownNames}. @param inFile the names that the file of settings has */
export function unknownSettings(inFile: readonly string[], env: Settings = process.env): string[] {
  return unknownNames(Object.keys(env), inFile, SETTING_NAMES);
}

/** The files that the settings name, as given. They are known even if other settings are wrong. */
export type NamedFiles = ReturnType<typeof namedFiles>;

/** Returns the files that the settings of this process name. With ROLE=api it has no signing keys. */
export function namedFiles(env: Settings = process.env) {
  const set = given(env);
  return {
    signing: signingFiles(set.ROLE === 'api' ? {} : set),
    authority: authorityFiles(set),
    operations: set.GRAPHQL_OPERATIONS ?? null,
  };
}

/** Returns FATOURA_KEY: the API key of commands that call a service as a client. The service itself does not use it. */
export function readClientKey(env: Settings = process.env): string | null {
  return env.FATOURA_KEY || null;
}
