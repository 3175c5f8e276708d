import { z } from 'zod';
import { type Given, has, type Rule } from './values.ts';

// The settings of signatures: the keys that sign documents, the policy and the time stamps.

/** The settings and their values. */
export const SIGNING_SETTINGS = {
  SIGNING_P12: z.string().optional(),
  SIGNING_P12_PASSPHRASE: z.string().optional(),
  SIGNING_PKCS11: z.string().startsWith('pkcs11:', { error: 'must be a PKCS #11 URI (RFC 7512)' }).optional(),
  SIGNING_CERTIFICATES: z.string().optional(),
  SIGNING_TENANTS: z.string().optional(),
  SIGNATURE_POLICY: z
    .union([z.string().regex(/^\d+(\.\d+)+$/), z.url()], { error: 'must be an OID (1.2.3) or a URI' })
    .optional(),
  SIGNATURE_POLICY_SHA256: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, { error: 'must be the SHA-256 of the policy as 64 hexadecimal digits' })
    .optional(),
  TSA_URL: z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).optional(),
};

/** The rules between these settings. */
export const SIGNING_RULES: readonly Rule[] = [
  [
    'SIGNING_PKCS11',
    (env) => has(env, 'SIGNING_P12') && has(env, 'SIGNING_PKCS11'),
    'cannot be combined with SIGNING_P12',
  ],
  [
    'SIGNATURE_POLICY_SHA256',
    (env) => has(env, 'SIGNATURE_POLICY') !== has(env, 'SIGNATURE_POLICY_SHA256'),
    'and SIGNATURE_POLICY must be set together',
  ],
];

/** Returns the files that the settings name, independent of the other settings. */
export function signingFiles(
  set: Given<'SIGNING_P12' | 'SIGNING_P12_PASSPHRASE' | 'SIGNING_PKCS11' | 'SIGNING_CERTIFICATES' | 'SIGNING_TENANTS'>,
) {
  return {
    /** The key that signs documents. If `p12` and `pkcs11` are both null, a generated test identity signs. */
    p12: set.SIGNING_P12 ? { file: set.SIGNING_P12, passphrase: set.SIGNING_P12_PASSPHRASE ?? '' } : null,
    /** A key in an HSM (RFC 7512), with a PEM file of its certificates if the HSM does not hold them. */
    pkcs11: set.SIGNING_PKCS11 ? { uri: set.SIGNING_PKCS11, certificates: set.SIGNING_CERTIFICATES ?? null } : null,
    /** JSON file of the tenants that have their own signing keys. */
    tenants: set.SIGNING_TENANTS ?? null,
  };
}

/** Returns how documents are signed. */
export function signingOf(env: z.output<z.ZodObject<typeof SIGNING_SETTINGS>>) {
  return {
    ...signingFiles(env),
    /** The signature policy that signatures refer to; `sha256` in base64. */
    policy: env.SIGNATURE_POLICY
      ? { id: env.SIGNATURE_POLICY, sha256: Buffer.from(env.SIGNATURE_POLICY_SHA256 ?? '', 'hex').toString('base64') }
      : null,
    /** The time-stamping authority (RFC 3161). The URL may hold a user and a password. */
    tsaUrl: env.TSA_URL ?? null,
  };
}
