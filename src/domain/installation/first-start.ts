import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import { type ApiKey, hashToken, type KeyKind, newToken } from '../api-key/api-key.ts';
import { newId } from '../ids.ts';
import type { TenantRepository } from '../tenant/ports.ts';

/** What is remembered of an installation as a whole. */
export interface InstallationRepository {
  /** Keeps the hash unless there is one, and answers whether it was kept: of many processes that start at once, one is told true. */
  keepOperatorHash(hash: string): Promise<boolean>;
  /** Keeps the hash in place of the one before. */
  replaceOperatorHash(hash: string): Promise<void>;
  /** SHA-256, lower-case hex; null before the first start. */
  operatorHash(): Promise<string | null>;
  /** Keeps the mark unless there is one, and answers the one that is kept: the same to all processes that start at once. */
  keepMasterKeyMark(mark: string): Promise<string>;
  /** By which the master key of the data is recognized; null before the first start. */
  masterKeyMark(): Promise<string | null>;
  /** The next start keeps the mark of its own key. */
  forgetMasterKeyMark(): Promise<void>;
}

/** By which a master key is recognized: derived from it (HKDF-SHA-256, 32 bytes in hex) and of no other use. */
export function masterKeyMark(masterKey: Uint8Array): string {
  return Buffer.from(hkdfSync('sha256', masterKey, new Uint8Array(), 'mark:master-key', 32)).toString('hex');
}

/** What is shown once, to whoever starts the service for the first time. */
export interface FirstStart {
  /** Of the job dashboard; null when it was made by an earlier start. */
  readonly operatorPassword: string | null;
  /** null when there are tenants already, or the database is not our own. */
  readonly demo: { readonly tenantId: string; readonly secretKey: string; readonly publishableKey: string } | null;
}

/**
 * Makes what a new installation needs: the operator's credential, and in an empty embedded database a demo tenant with test keys.
 * @param embedded never true for a database that others may use (docs/decisions/0037)
 */
export async function prepareInstallation(
  tenants: TenantRepository,
  installation: InstallationRepository,
  embedded: boolean,
): Promise<FirstStart> {
  const { password, hash } = newOperatorCredential();
  const isNew = await installation.keepOperatorHash(hash);
  return { operatorPassword: isNew ? password : null, demo: embedded ? await makeDemoTenant(tenants) : null };
}

/** Makes a new credential of the operator; the one before is void at once. @returns the password, shown this once */
export async function resetOperator(installation: InstallationRepository): Promise<string> {
  const { password, hash } = newOperatorCredential();
  await installation.replaceOperatorHash(hash);
  return password;
}

function newOperatorCredential(): { password: string; hash: string } {
  const password = randomBytes(18).toString('base64url');
  return { password, hash: createHash('sha256').update(password).digest('hex') };
}

async function makeDemoTenant(tenants: TenantRepository): Promise<FirstStart['demo']> {
  if (!(await tenants.isEmpty())) return null;
  const tenantId = newId('ten');
  const secretKey = newToken('secret', 'test');
  const publishableKey = newToken('publishable', 'test');
  // One write: a start that is cut off leaves either no tenant or one that works.
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
    createdAt: new Date(),
    revokedAt: null,
  };
}
