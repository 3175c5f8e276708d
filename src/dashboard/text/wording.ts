import type { INVOICE_STATUSES } from '../../domain/invoice/lifecycle.ts';
import type { ROLES } from '../../domain/person/person.ts';
import type { DELIVERY_STATES } from '../../domain/webhook/delivery.ts';
import type { AuditEntry } from '../audit/documents.ts';
import type { AttentionReason, BreakerPhase, Lane } from '../operators/operator-api.ts';
import type { LiveCondition, PaymentMeans } from '../settings/documents.ts';
import type { TextField } from '../settings/profile-change.ts';

type MailStatus = 'waiting' | 'sending' | 'sent' | 'refused' | 'failed';
type DeliveryState = (typeof DELIVERY_STATES)[number];
type Status = (typeof INVOICE_STATUSES)[number];
type Role = (typeof ROLES)[number];

/** A status: its name as a step, a headline for what it is now, and what that means for the customer. */
export interface StatusTexts {
  readonly step: string;
  readonly headline: string;
  readonly meaning: string;
}

/** The texts of the pages. */
export interface Texts {
  readonly language: string;
  readonly footer: string;
  readonly notFound: string;
  readonly notFoundUnder: string;
  /** Of a page whose files could not be loaded. */
  readonly unloaded: { readonly title: string; readonly under: string; readonly again: string };
  readonly loading: string;
  readonly live: string;
  readonly lost: string;
  readonly offline: string;
  readonly refused: string;
  readonly refusedUnder: string;
  readonly invoice: string;
  readonly test: string;
  readonly testUnder: string;
  readonly numberToCome: string;
  /** Including tax, without the rounding. */
  readonly total: string;
  readonly details: string;
  readonly customer: string;
  readonly ice: string;
  readonly createdOn: string;
  readonly operationOn: string;
  readonly dueOn: string;
  readonly payment: string;
  readonly dgiId: string;
  readonly subtotal: string;
  /** @param rate percent */
  readonly vat: (rate: number) => string;
  readonly rounding: string;
  /** The amount payable, by the name that the PDF has for it: `total` with `rounding`. */
  readonly payable: string;
  /** The last step while it is to come. */
  readonly decision: string;
  readonly progress: string;
  readonly reason: string;
  readonly documents: string;
  readonly pdf: string;
  readonly pdfUnder: string;
  readonly xml: string;
  readonly xmlUnder: string;
  readonly verify: string;
  readonly verifyUnder: string;
  readonly documentsToCome: string;
  readonly noDocuments: string;
  readonly statuses: Readonly<Record<Status, StatusTexts>>;
  /** In place of those, for the people of the seller. */
  readonly sellerStatuses: Readonly<Partial<Record<Status, StatusTexts>>>;
  /** In place of those, for a test invoice, which is never called valid. */
  readonly testStatuses: Readonly<Partial<Record<Status, StatusTexts>>>;
  readonly welcome: WelcomeTexts;
  readonly account: AccountTexts;
  /** Pages within pages of other products. */
  readonly embedding: { readonly expired: string; readonly none: string };
  readonly operators: OperatorsTexts;
  readonly workspace: WorkspaceTexts;
  readonly invoices: InvoicesTexts;
  readonly home: HomeTexts;
  readonly search: SearchTexts;
  readonly creation: CreationTexts;
  readonly requests: RequestsTexts;
  readonly settings: SettingsTexts;
  readonly audit: AuditTexts;
  readonly replay: ReplayTexts;
  readonly secret: SecretTexts;
  readonly keys: KeysTexts;
  readonly endpoints: EndpointsTexts;
  readonly console: ConsoleTexts;
  readonly health: HealthTexts;
  readonly deliveries: DeliveriesTexts;
  readonly people: PeopleTexts;
}

/** The texts of the root page. */
export interface WelcomeTexts {
  readonly title: string;
  readonly lead: string;
  readonly firstInvoice: string;
  readonly steps: readonly string[];
  readonly docs: string;
  readonly graphql: string;
  readonly openapi: string;
  readonly account: string;
}

/** A page with a form. */
interface FormTexts {
  readonly title: string;
  readonly lead: string;
  readonly submit: string;
}

/** The texts of the pages of accounts. */
export interface AccountTexts {
  readonly title: string;
  readonly loading: string;
  readonly signOut: string;
  readonly roles: string;
  readonly noRoles: string;
  /** The service as a whole, in which an operator has a role. */
  readonly service: string;
  readonly operator: string;
  /** The links to the pages of operators. */
  readonly jobs: string;
  readonly metrics: string;
  readonly roleNames: Readonly<Record<Role, string>>;
  readonly labels: Readonly<
    Record<
      | 'email'
      | 'name'
      | 'password'
      | 'chosenPassword'
      | 'currentPassword'
      | 'newPassword'
      | 'newEmail'
      | 'code'
      | 'passkeyName',
      string
    >
  >;
  readonly hints: Readonly<Record<'chosenPassword' | 'newPassword' | 'passkeyName', string>>;
  readonly show: string;
  readonly hide: string;
  readonly signIn: Omit<FormTexts, 'lead'> & { readonly passkey: string };
  /** The step after the password. */
  readonly codeStep: FormTexts & { readonly back: string };
  /** Said to somebody whose address no mail has shown to be theirs. */
  readonly unconfirmed: string;
  readonly join: FormTexts & {
    readonly incomplete: string;
    readonly ended: { readonly used: string; readonly revoked: string; readonly unknown: string };
  };
  readonly forgotten: FormTexts & { readonly link: string; readonly sent: string; readonly again: string };
  readonly reset: FormTexts & { readonly incomplete: string; readonly done: string };
  readonly change: FormTexts & { readonly done: string };
  readonly factors: SecondFactorTexts;
  /** The browsers in which a person is signed in. */
  readonly sessions: {
    readonly title: string;
    readonly lead: string;
    /** A browser that did not say what it is. */
    readonly unknown: string;
    readonly current: string;
    readonly used: string;
    readonly begun: string;
    readonly end: string;
    readonly endQuestion: string;
    readonly endOthers: string;
    readonly endOthersQuestion: string;
  };
  /** Name and address of the account. */
  readonly details: {
    readonly title: string;
    readonly name: string;
    readonly nameLead: string;
    readonly rename: string;
    readonly renamed: string;
    readonly address: string;
    readonly addressLead: string;
    readonly ask: string;
    readonly asked: string;
  };
  /** The page that confirms another address. */
  readonly newAddress: FormTexts & { readonly incomplete: string; readonly done: string };
  readonly refusals: {
    readonly wrongCredentials: string;
    readonly wrongPassword: string;
    /** A new password is wanted: whoever made the account before its address was confirmed may know this one. */
    readonly knownPassword: string;
    /** A new password that is easy to guess. */
    readonly guessable: string;
    /** Another account has the address. */
    readonly taken: string;
    readonly wrongCode: string;
    readonly passkey: string;
    readonly link: string;
    readonly notSignedIn: string;
    readonly unreachable: string;
    readonly failed: string;
    readonly tooMany: (minutes: number) => string;
    /** @param label the name of the field that is wrong */
    readonly field: (label: string) => string;
  };
}

/** The texts of an account's codes and passkeys. */
export interface SecondFactorTexts {
  readonly title: string;
  readonly lead: string;
  readonly codes: string;
  readonly off: string;
  /** @param left recovery codes that were not used */
  readonly on: (left: number) => string;
  readonly setUp: string;
  readonly scan: string;
  readonly qrCode: string;
  readonly byHand: string;
  readonly confirm: string;
  readonly recoveryLead: string;
  readonly newRecovery: string;
  readonly remove: string;
  readonly passkeys: string;
  readonly noPasskeys: string;
  readonly addPasskey: string;
  readonly removePasskey: string;
}

/** The texts of the pages of operators. */
export interface OperatorsTexts {
  readonly title: string;
  readonly tenants: string;
  readonly entries: string;
  readonly entriesLead: string;
  readonly attention: string;
  readonly nothing: string;
  readonly since: string;
  readonly retry: string;
  readonly queues: string;
  readonly queue: string;
  readonly waiting: string;
  readonly oldest: string;
  readonly webhooks: string;
  readonly parked: string;
  readonly authority: string;
  readonly noAuthority: string;
  readonly state: string;
  readonly outages: string;
  readonly nextProbe: string;
  readonly notBefore: string;
  readonly workers: string;
  readonly noWorker: string;
  readonly failingEndpoints: string;
  readonly transmitting: string;
  readonly inFlight: string;
  readonly paused: string;
  readonly resume: string;
  readonly resumeQuestion: string;
  readonly reason: string;
  readonly pause: string;
  readonly pauseQuestion: string;
  readonly pausedState: string;
  readonly certificates: string;
  readonly noCertificates: string;
  readonly testOnly: string;
  readonly until: string;
  readonly disk: string;
  readonly data: string;
  readonly free: string;
  readonly tenantName: string;
  readonly createTenant: string;
  readonly suspended: string;
  readonly suspension: string;
  readonly suspensionLead: string;
  readonly suspend: string;
  readonly suspendQuestion: string;
  readonly unsuspend: string;
  readonly unsuspendQuestion: string;
  readonly inviteLead: string;
  /** @param role the name of a role */
  readonly inviteAs: (role: string) => string;
  readonly lanes: Readonly<Record<Lane, string>>;
  readonly breakers: Readonly<Record<BreakerPhase, string>>;
  readonly reasons: Readonly<Record<AttentionReason, string>>;
}

/** The texts of the frame of a signed-in person's pages. */
export interface WorkspaceTexts {
  readonly skip: string;
  readonly environment: string;
  readonly test: string;
  readonly live: string;
  readonly testUnder: string;
  readonly sections: string;
}

/** The texts of the pages of a tenant's invoices. */
export interface InvoicesTexts {
  readonly title: string;
  readonly all: string;
  readonly filters: string;
  readonly from: string;
  readonly until: string;
  readonly none: string;
  readonly noneYet: string;
  readonly failed: string;
  readonly pages: string;
  readonly newer: string;
  readonly older: string;
  readonly attention: string;
  readonly columns: Readonly<
    Record<'number' | 'customer' | 'status' | 'date' | 'description' | 'quantity' | 'unitPrice' | 'vat' | 'net', string>
  >;
  readonly viewPdf: string;
  readonly lines: string;
  readonly mail: string;
  readonly noMail: string;
  readonly deliveries: string;
  readonly noDeliveries: string;
  readonly retryAt: string;
  readonly attempts: string;
  readonly mailStatuses: Readonly<Record<MailStatus, string>>;
  readonly deliveryStates: Readonly<Record<DeliveryState, string>>;
}

/** The texts of secrets that are shown once, and of dialogs. */
export interface SecretTexts {
  readonly once: string;
  readonly copy: string;
  readonly copied: string;
  readonly done: string;
  readonly cancel: string;
}

export interface KeysTexts {
  readonly title: string;
  readonly lead: string;
  readonly none: string;
  readonly make: Readonly<Record<'secret' | 'publishable', string>>;
  readonly made: string;
  readonly kinds: Readonly<Record<'secret' | 'publishable', string>>;
  readonly createdOn: string;
  readonly revokedOn: string;
  readonly rotate: string;
  readonly rotateQuestion: string;
  readonly revoke: string;
  readonly revokeQuestion: string;
}

export interface EndpointsTexts {
  readonly title: string;
  readonly lead: string;
  readonly none: string;
  readonly made: string;
  readonly on: string;
  readonly off: string;
  readonly failingNow: string;
  readonly since: string;
  readonly disable: string;
  readonly enable: string;
  readonly rotate: string;
  readonly rotateQuestion: string;
  readonly remove: string;
  readonly removeQuestion: string;
  readonly test: string;
  readonly tested: string;
  readonly edit: string;
  readonly save: string;
  readonly add: string;
  readonly url: string;
  readonly description: string;
  readonly events: string;
  readonly create: string;
}

/** The texts of the live events. */
interface ConsoleTexts {
  readonly title: string;
  readonly lead: string;
  readonly waiting: string;
  readonly clear: string;
  readonly byHand: string;
}

/** The texts of an endpoint's attempts. Numbers come formatted. */
interface HealthTexts {
  readonly none: string;
  readonly rate: (percent: string, attempts: string) => string;
  readonly retried: (count: string) => string;
  /** Milliseconds. */
  readonly latency: (median: string, p95: string) => string;
  readonly details: string;
  readonly hour: string;
  readonly delivered: string;
  readonly afterRetry: string;
  readonly failed: string;
}

export interface DeliveriesTexts {
  readonly title: string;
  /** The link to a page of its own. */
  readonly own: string;
  /** The title of that page. */
  readonly one: string;
  readonly none: string;
  readonly allStates: string;
  readonly resend: string;
  readonly invoice: string;
  readonly attempt: string;
  readonly request: string;
  readonly answer: string;
  readonly truncated: string;
}

export interface PeopleTexts {
  readonly title: string;
  readonly lead: string;
  readonly made: string;
  readonly you: string;
  /** Of an address that no mail has shown to be the person's. */
  readonly unconfirmed: string;
  readonly roleOf: (name: string) => string;
  readonly remove: string;
  readonly removeQuestion: (name: string) => string;
  readonly leave: string;
  readonly leaveQuestion: string;
  readonly open: string;
  readonly whoever: string;
  readonly until: string;
  readonly revoke: string;
  readonly revokeQuestion: string;
  readonly invite: string;
  readonly inviteLead: string;
  readonly email: string;
  readonly role: string;
  readonly send: string;
  readonly roles: Readonly<Record<Role, string>>;
}

/** The texts of the home page. */
export interface HomeTexts {
  readonly title: string;
  readonly thirtyDays: string;
  readonly created: string;
  readonly open: string;
  readonly perDay: string;
  readonly day: string;
  readonly attention: string;
  readonly nothing: string;
  readonly late: string;
  readonly rejected: string;
  readonly failing: string;
  readonly certificateEnds: string;
  readonly firstSteps: string;
  readonly done: string;
  readonly toDo: string;
  readonly steps: Readonly<Record<'key' | 'invoice' | 'accepted' | 'endpoint' | 'delivered', string>>;
}

/** The texts of the search of invoices and of their export. */
export interface SearchTexts {
  readonly label: string;
  readonly hint: string;
  readonly submit: string;
  readonly remove: string;
  readonly export: string;
  readonly exporting: (count: number) => string;
  readonly exported: (count: number) => string;
  readonly exportFailed: string;
  readonly stop: string;
  readonly taxTotal: string;
  readonly currency: string;
  /** With the time of day and the zone, in an export. */
  readonly createdAt: string;
  readonly create: string;
}

/** The names of GraphQL's `TestScenarioName`. */
export type ScenarioName =
  | 'unknown_ice'
  | 'duplicate'
  | 'slow_decision'
  | 'unavailable_twice'
  | 'unavailable'
  | 'lost_reply'
  | 'signing_fails'
  | 'slow_receipt';

/** The texts of the form that creates a test invoice. */
export interface CreationTexts {
  readonly title: string;
  readonly lead: string;
  readonly scenario: string;
  readonly ordinary: string;
  readonly scenarios: Readonly<Record<ScenarioName, string>>;
  readonly name: string;
  readonly email: string;
  readonly line: (n: number) => string;
  readonly addLine: string;
  readonly removeLine: string;
  readonly submit: string;
  readonly byApi: string;
  readonly byApiUnder: string;
}

/** The texts of the page of requests. */
export interface RequestsTexts {
  readonly title: string;
  readonly lead: string;
  readonly none: string;
  readonly all: string;
  readonly failedOnly: string;
  readonly again: string;
  readonly byError: string;
  readonly times: (count: number) => string;
  readonly requestId: string;
  readonly key: string;
  readonly error: string;
  readonly graphiql: string;
  readonly likeIt: (count: number) => string;
}

/** The texts of the seller's profile. */
interface SettingsTexts {
  readonly title: string;
  readonly lead: string;
  readonly goingLive: string;
  readonly conditions: Readonly<Record<LiveCondition, string>>;
  /** @param fields names of fields */
  readonly missing: (fields: string) => string;
  readonly profile: string;
  readonly forOwners: string;
  readonly save: string;
  readonly saved: string;
  readonly unsaved: string;
  readonly preview: string;
  readonly previewLead: string;
  readonly openPreview: string;
  readonly drawing: string;
  readonly groups: Readonly<Record<'company' | 'contact' | 'payment' | 'documents', string>>;
  readonly fields: Readonly<Record<TextField | 'address', string>>;
  readonly hints: Readonly<Partial<Record<TextField, string>>>;
  readonly paymentMeans: string;
  readonly noMeans: string;
  readonly means: Readonly<Record<PaymentMeans, string>>;
  readonly documentLanguage: string;
  readonly operationDate: string;
  readonly logo: string;
  readonly logoHint: string;
  readonly removeLogo: string;
}

/** The texts of the audit log. */
interface AuditTexts {
  readonly title: string;
  readonly lead: string;
  readonly none: string;
  readonly everything: string;
  /** Before the id of a filter. */
  readonly onlyOf: string;
  readonly forOwners: string;
  readonly actors: Readonly<Record<AuditEntry['actor']['kind'], string>>;
  readonly facts: Readonly<Record<'actor' | 'subject' | 'address' | 'userAgent', string>>;
  readonly actions: Readonly<Record<AuditEntry['action'], string>>;
}

/** The texts of the form that sends deliveries once more. */
export interface ReplayTexts {
  readonly title: string;
  readonly endpoint: string;
  readonly state: string;
  readonly count: string;
  readonly none: string;
  readonly counted: (count: string) => string;
  readonly more: string;
  readonly question: (count: string) => string;
  readonly replay: string;
  readonly replayed: (count: string) => string;
}
