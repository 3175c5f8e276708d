import type { ApiKey } from '../api-key/api-key.ts';
import type { KeyKind } from '../api-key/key-kinds.ts';
import type { IssuedKey, ManageKeys } from '../api-key/manage-keys.ts';
import {
  type Audit,
  type AuditLog,
  entryByOperator,
  INSTALLATION,
  type Operator,
  type RecordedEntry,
} from '../audit-entry.ts';
import type { AuthorityStateStore } from '../authority/state.ts';
import { serviceError } from '../errors.ts';
import { isId, newId } from '../ids.ts';
import { isDocumentId } from '../invoice/kinds.ts';
import type { InvoiceRepository } from '../invoice/repository.ts';
import { MAX_LOGOS } from '../limits.ts';
import { type Page, placeInList } from '../page.ts';
import type { Role } from '../person/person.ts';
import type {
  ListedTenant,
  LiveConditions,
  MissingForLive,
  SellerProfileChange,
  TenantRepository,
} from '../tenant/ports.ts';
import { changedFields, type Environment, type Tenant } from '../tenant/tenant.ts';

/** Maximum number of tenants, or of audit entries, in a page. */
const PAGE = 50;

/** A tenant as an operator sees it, without its invoices. */
export interface TenantDetails {
  readonly tenant: Tenant;
  readonly missingForLive: readonly MissingForLive[];
  /** The keys, newest last, including revoked ones. */
  readonly keys: readonly ApiKey[];
}

/**
 * The operations of operators on the whole service. Each change is recorded in the audit log of the tenant that it
 * concerns, otherwise of the installation. Every method throws {ServiceError} resource_not_found for an unknown object.
 */
export interface Operate {
  /** Lists tenants, newest first. @param after the id of the last tenant of the previous page */
  tenants(after: string | null): Promise<{ readonly tenants: readonly ListedTenant[]; readonly hasMore: boolean }>;
  tenant(tenantId: string): Promise<TenantDetails>;
  /** Creates a tenant. @param name one line */
  createTenant(by: Operator, name: string): Promise<Tenant>;
  /**
   * Changes the given fields of the seller's profile. Later invoices use the new one.
   * @param change as `parseSellerProfile` accepts it
   * @throws {ServiceError} invalid_request; logo_limit_reached
   */
  changeProfile(by: Operator, tenantId: string, change: unknown): Promise<void>;
  /** Suspends a tenant, which can then only read. Work under way continues. A suspended tenant is not changed. */
  suspendTenant(by: Operator, tenantId: string): Promise<void>;
  resumeTenant(by: Operator, tenantId: string): Promise<void>;
  /** Creates an API key. @throws {ServiceError} as `ManageKeys.create` */
  createKey(by: Operator, tenantId: string, kind: KeyKind, environment: Environment): Promise<IssuedKey>;
  revokeKey(by: Operator, keyId: string): Promise<void>;
  /** Invites a person. @returns the link, which is not stored and is valid as long as `by` is an operator */
  invite(by: Operator, tenantId: string, role: Role): Promise<string>;
  /** Makes an invoice's work due now. @throws {ServiceError} invalid_request if its processing has ended */
  retryInvoice(by: Operator, invoiceId: string): Promise<void>;
  /** Pauses the authority: nothing is sent to it from now on. */
  pauseAuthority(by: Operator, reason: string): Promise<void>;
  /** Ends the pause. @throws {ServiceError} invalid_request if there is no pause */
  resumeAuthority(by: Operator): Promise<void>;
  /**
   * Lists audit entries of the installation, newest first.
   * @param after the id of the last entry of the previous page
   */
  entries(after: string | null): Promise<Page<RecordedEntry>>;
}

export interface OperateParts {
  readonly tenants: Pick<
    TenantRepository,
    'page' | 'find' | 'insert' | 'keysOf' | 'setSuspended' | 'changeProfile' | 'admitLogo'
  >;
  /** Parses as `parseSellerProfile`, reading the logo for this tenant. */
  readonly parseProfile: (tenantId: string, input: unknown) => Promise<SellerProfileChange>;
  readonly manageKeys: ManageKeys;
  readonly missingForLive: LiveConditions;
  readonly invite: (personId: string, tenantId: string, role: Role) => Promise<string>;
  readonly invoices: Pick<InvoiceRepository, 'find' | 'retryNow'>;
  readonly authorityState: Pick<AuthorityStateStore, 'pause' | 'resume'>;
  readonly auditLog: Pick<AuditLog, 'find' | 'page'>;
  readonly audit: Audit;
  readonly now: () => Date;
}

export function createOperate(parts: OperateParts): Operate {
  const { tenants, manageKeys, audit } = parts;

  async function found(tenantId: string): Promise<Tenant> {
    const tenant = isId('ten', tenantId) ? await tenants.find(tenantId) : null;
    if (tenant === null) throw serviceError('resource_not_found', 'There is no tenant with this id.', 'tenant');
    return tenant;
  }

  async function setSuspended(by: Operator, tenantId: string, at: Date | null): Promise<void> {
    await found(tenantId);
    if (!(await tenants.setSuspended(tenantId, at))) return;
    const action = at === null ? 'tenant.resumed' : 'tenant.suspended';
    await audit(entryByOperator(tenantId, null, action, { subject: tenantId }, by));
  }

  return {
    async tenants(after) {
      const rows = await tenants.page(after, PAGE + 1);
      return { tenants: rows.slice(0, PAGE), hasMore: rows.length > PAGE };
    },
    async tenant(tenantId) {
      const tenant = await found(tenantId);
      const [missingForLive, keys] = await Promise.all([parts.missingForLive(tenant), tenants.keysOf(tenantId)]);
      return { tenant, missingForLive, keys };
    },
    async createTenant(by, name) {
      const tenant: Tenant = { id: newId('ten'), name, profile: {}, createdAt: parts.now(), suspendedAt: null };
      await tenants.insert(tenant);
      await audit(entryByOperator(tenant.id, null, 'tenant.created', { subject: tenant.id }, by));
      return tenant;
    },
    async changeProfile(by, tenantId, input) {
      const { profile } = await found(tenantId);
      const change = await parts.parseProfile(tenantId, input);
      const fields = changedFields(profile, change);
      if (fields.length === 0) return;
      const { logo } = change;
      if (logo && !(await tenants.admitLogo(tenantId, logo.sha256, MAX_LOGOS)))
        throw serviceError('logo_limit_reached', `A tenant can store at most ${MAX_LOGOS} different logos.`, 'logo');
      await tenants.changeProfile(tenantId, change, false);
      const facts = { subject: tenantId, details: { fields: fields.join(', ') } };
      await audit(entryByOperator(tenantId, null, 'seller_profile.updated', facts, by));
    },
    suspendTenant: (by, tenantId) => setSuspended(by, tenantId, parts.now()),
    resumeTenant: (by, tenantId) => setSuspended(by, tenantId, null),
    async createKey(by, tenantId, kind, environment) {
      await found(tenantId);
      const issued = await manageKeys.create(tenantId, kind, environment);
      const facts = { subject: issued.key.id, details: { kind } };
      await audit(entryByOperator(tenantId, environment, 'api_key.created', facts, by));
      return issued;
    },
    async revokeKey(by, keyId) {
      const { tenantId, environment, isRevoked } = await manageKeys.tenantOf(keyId);
      if (isRevoked) return;
      await manageKeys.revoke(keyId);
      await audit(entryByOperator(tenantId, environment, 'api_key.revoked', { subject: keyId }, by));
    },
    async invite(by, tenantId, role) {
      await found(tenantId);
      const link = await parts.invite(by.person.id, tenantId, role);
      await audit(entryByOperator(tenantId, null, 'member.invited', { subject: null, details: { role } }, by));
      return link;
    },
    async retryInvoice(by, invoiceId) {
      const invoice = isDocumentId(invoiceId) ? await parts.invoices.find(invoiceId) : null;
      const isDue = isDocumentId(invoiceId) && (await parts.invoices.retryNow(invoiceId));
      if (!isDue && invoice === null)
        throw serviceError('resource_not_found', 'There is no invoice with this id.', 'invoice');
      if (!isDue) throw serviceError('invalid_request', 'The processing of this invoice has ended.', 'invoice');
      // The invoice of an erased tenant is still processed, but cannot be found. The entry then goes to the
      // installation's log.
      const { tenantId, environment } = invoice ?? { tenantId: INSTALLATION, environment: null };
      await audit(entryByOperator(tenantId, environment, 'invoice.retried', { subject: invoiceId }, by));
    },
    async pauseAuthority(by, reason) {
      await parts.authorityState.pause({ by: by.person.name, reason, since: parts.now() });
      await audit(entryByOperator(INSTALLATION, null, 'authority.paused', { subject: null, details: { reason } }, by));
    },
    async resumeAuthority(by) {
      if ((await parts.authorityState.resume()) === null) throw serviceError('invalid_request', 'There is no pause.');
      await audit(entryByOperator(INSTALLATION, null, 'authority.resumed', { subject: null }, by));
    },
    async entries(after) {
      const span = { limit: PAGE, cursor: after === null ? null : ({ direction: 'after', id: after } as const) };
      const place = await placeInList(span, async (id) =>
        isId('aud', id) ? parts.auditLog.find(INSTALLATION, id) : null,
      );
      const all = { actorId: null, subject: null, from: null, until: null };
      return parts.auditLog.page({ tenantId: INSTALLATION, ...place, ...all });
    },
  };
}
