import { createHash, randomBytes } from 'node:crypto';
import { type ApiKey, hashToken, newToken } from '../api-key/api-key.ts';
import type { KeyKind } from '../api-key/key-kinds.ts';
import { newId } from '../ids.ts';
import type { Grants } from '../person/person.ts';
import type { TenantRepository } from '../tenant/ports.ts';

/** Stores the state of the installation as a whole. */
export interface InstallationRepository {
  /**
   * Stores the hash if there is none.
   * @returns whether it was stored, which is true for only one of several concurrent starts
   */
  keepOperatorHash(hash: string): Promise<boolean>;
  /** Replaces the hash. */
  replaceOperatorHash(hash: string): Promise<void>;
  /** Remembers the demo's tenant, replacing an earlier one. */
  rememberDemoTenant(tenantId: string): Promise<void>;
  /** Returns the id of the demo's tenant, which may no longer exist; null if there was none. */
  demoTenant(): Promise<string | null>;
  /** Returns the SHA-256 of the operator's password in lower-case hex; null before the first start. */
  operatorHash(): Promise<string | null>;
  /**
   * Stores the secret of {@link createInvoiceIds} if there is none.
   * @returns the stored secret, which is the same for all processes and never changes
   */
  keepInvoiceIdSecret(secret: string): Promise<string>;
}

/** Credentials that the first start of the service shows once. */
export interface FirstStart {
  /** Password of the job dashboard; null if an earlier start created it. */
  readonly operatorPassword: string | null;
  /**
   * The link that creates the first account, which is operator and owner of the demo tenant; null if an earlier start
   * showed it.
   */
  readonly invitationUrl: string | null;
  /** The demo tenant; null if there already are tenants, or the database is not embedded. */
  readonly demo: { readonly tenantId: string; readonly secretKey: string; readonly publishableKey: string } | null;
}

/**
 * Sets up a new installation: the operator's credential, the invitation of the first account, and in an empty embedded
 * database a demo tenant with test keys.
 * @param invite makes an invitation and returns its link
 * @param embedded must be false for a database that others may use (docs/decisions/0037)
 * @param name the installation's name in the test keys; null for none
 */
export async function prepareInstallation(
  tenants: Pick<TenantRepository, 'isEmpty' | 'insert'>,
  installation: InstallationRepository,
  invite: (grants: Grants) => Promise<string>,
  embedded: boolean,
  name: string | null,
): Promise<FirstStart> {
  const { password, hash } = newOperatorCredential();
  const isFirst = (await installation.operatorHash()) === null;
  const demo = embedded ? await makeDemoTenant(tenants, installation, name) : null;
  const memberships = demo ? [{ tenantId: demo.tenantId, role: 'owner' } as const] : [];
  // Done before the hash is stored: if a start ends in between, its invitation was never shown, and the next start
  // makes another.
  const url = isFirst ? await invite({ isOperator: true, memberships }) : null;
  const isNew = await installation.keepOperatorHash(hash);
  return { operatorPassword: isNew ? password : null, invitationUrl: isNew ? url : null, demo };
}

/**
 * Replaces the operator's credential. The old one is invalid at once.
 * @returns the new password, which is not stored
 */
export async function resetOperator(installation: InstallationRepository): Promise<string> {
  const { password, hash } = newOperatorCredential();
  await installation.replaceOperatorHash(hash);
  return password;
}

function newOperatorCredential(): { password: string; hash: string } {
  const password = randomBytes(18).toString('base64url');
  return { password, hash: createHash('sha256').update(password).digest('hex') };
}

async function makeDemoTenant(
  tenants: Pick<TenantRepository, 'isEmpty' | 'insert'>,
  installation: InstallationRepository,
  name: string | null,
): Promise<FirstStart['demo']> {
  if (!(await tenants.isEmpty())) return null;
  const tenantId = newId('ten');
  const secretKey = newToken('secret', 'test', name);
  const publishableKey = newToken('publishable', 'test', name);
  await installation.rememberDemoTenant(tenantId);
  // A single write, so that an interrupted start leaves either no tenant or a complete one.
  await tenants.insert({ id: tenantId, name: 'Demo', profile: {}, createdAt: new Date() }, [
    { key: keyOf('secret', secretKey), hash: hashToken(secretKey) },
    { key: keyOf('publishable', publishableKey), hash: hashToken(publishableKey) },
  ]);
  return { tenantId, secretKey, publishableKey };
}

function keyOf(kind: KeyKind, token: string): ApiKey {
  return {
    id: newId('key'),
    kind,
    environment: 'test',
    lastFour: token.slice(-4),
    name: null,
    createdAt: new Date(),
    revokedAt: null,
    lastUsedAt: null,
  };
}
