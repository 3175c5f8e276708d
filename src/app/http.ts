import { writeDeclaration } from '../adapters/declaration/declaration-writer.ts';
import { createPasswordJudge } from '../adapters/password/password-judge.ts';
import { workbookTemplates } from '../adapters/spreadsheet/template.ts';
import { lacksTrustedProxy } from '../domain/api-key/admission.ts';
import { createAuthenticate } from '../domain/api-key/authenticate.ts';
import { createKeyUses, notingUses } from '../domain/api-key/key-uses.ts';
import { createWatchRevocations } from '../domain/api-key/watch-revocations.ts';
import { callbackKey } from '../domain/authority/callback-signature.ts';
import type { Authority } from '../domain/authority/ports.ts';
import { createTakeHint } from '../domain/authority/take-hint.ts';
import { createReadEmbeddedLog } from '../domain/embedding/read-embedded-log.ts';
import { refuseReusedKey } from '../domain/invoice/create-invoice.ts';
import { createFindPresentInvoice, createPresentAmong } from '../domain/invoice/find-present.ts';
import { createExportArchive } from '../domain/invoice/periods/export-archive.ts';
import { createExportDeclaration } from '../domain/invoice/periods/export-declaration.ts';
import { createReadDocument } from '../domain/invoice/read-document.ts';
import { createVerifyPublicly } from '../domain/invoice/verify-publicly.ts';
import { createAuthenticateSession, createFindOperator } from '../domain/person/authenticate-session.ts';
import { placeOf } from '../domain/person/place.ts';
import type { PasswordJudge } from '../domain/person/ports.ts';
import { requireScope } from '../domain/principal.ts';
import { createRequestRecorder } from '../domain/request-log/recorder.ts';
import { createReadLogo } from '../domain/tenant/read-logo.ts';
import { accessOf } from '../graphql/access.ts';
import { createGate } from '../graphql/gate.ts';
import { readOperationList } from '../graphql/operation-list.ts';
import type { Jobs } from '../jobs/agenda.ts';
import { createPeriodDocuments } from '../storage/period-documents.ts';
import { createRateLimiter } from '../storage/rate-limiter.ts';
import { storeClock } from '../storage/store-clock.ts';
import { createTransmissions } from '../storage/transmissions.ts';
import { unavailability } from '../storage/unavailable.ts';
import { createDeliveryLedger } from '../storage/webhook-deliveries.ts';
import type { AuthorityCallbackParts } from '../transport/authority-callback.ts';
import { createEventStreams, type EventStreams } from '../transport/event-stream.ts';
import type { GraphqlParts } from '../transport/graphql.ts';
import type { HttpServer } from '../transport/http-server.ts';
import { operatorPages } from '../transport/operator-pages.ts';
import { createServer } from '../transport/server.ts';
import { composeAccounts } from './accounts.ts';
import type { ClientActivity } from './client-activity.ts';
import type { Data } from './data.ts';
import type { Metrics } from './metrics.ts';
import type { Monitored } from './monitored.ts';
import { composeOperations } from './operations.ts';
import type { Runtime } from './runtime.ts';
import type { ProcessTracing } from './tracing.ts';
import { composeUseCases, type UseCaseParts } from './use-cases.ts';
import type { Workers } from './workers.ts';

/** How long a shutdown waits for the last request records to be written, milliseconds. */
const RECORDS_MS = 2000;

export interface HttpParts extends Omit<UseCaseParts, 'readLogo'> {
  readonly jobs: Jobs;
  readonly metrics: Metrics;
  readonly clients: ClientActivity;
  readonly monitored: Monitored;
  readonly workers: Workers;
  readonly tracing: ProcessTracing;
  /** The live authority, with the secret of its callbacks; null if none is configured. */
  readonly live: { readonly authority: Authority; readonly callbackSecret: string | Uint8Array | null } | null;
  /** Null: the service starts a judge of its own. */
  readonly passwords: PasswordJudge | null;
}

/** Handles the requests of `server`, which already listens. */
export async function serveHttp(runtime: Runtime, server: HttpServer, parts: HttpParts): Promise<void> {
  const { config, log, closing } = runtime;
  const { data, jobs, metrics } = parts;
  const { tenants, invoices, invoiceIds, clientSecrets, health } = data;
  if (lacksTrustedProxy(config.publicUrl, config.trustedProxies))
    log.warn('PUBLIC_URL has HTTPS, which ends at a proxy, but TRUST_PROXY is not set: live keys are refused there');
  const limiter = createRateLimiter(config.rateLimits, data.alone ? null : data.store.db);
  const streams = composeStreams(runtime, data, metrics);
  const readLogo = createReadLogo(parts.documents.logoReader.read, (err) =>
    data.logFailure('warn', 'a logo could not be read', err),
  );
  const passwords = parts.passwords ?? ownPasswordJudge(runtime);
  const accounts = composeAccounts({ data, mailer: parts.accountMailer, publicUrl: parts.publicUrl, passwords });
  const findOperator = createFindOperator(accounts.accounts, data.people);
  const recorder = createRequestRecorder(data.requestLog, (dropped, failure) => {
    metrics.dropped(dropped);
    if (failure !== null) data.logFailure('warn', 'requests could not be recorded', failure);
  });
  const keyUses = createKeyUses(tenants.keepKeyUses, (failure) =>
    data.logFailure('warn', 'the uses of keys could not be written', failure),
  );
  closing.add(() => keyUses.stop(RECORDS_MS));
  const findPresent = createFindPresentInvoice(invoices, tenants);
  const periodDocuments = createPeriodDocuments(data.store.db);
  // Not registered as background work, which stops before the last requests are answered.
  closing.add(() => recorder.stop(RECORDS_MS));
  const koa = createServer({
    log,
    limiter,
    streams,
    publicUrl: parts.publicUrl,
    authenticate: notingUses(
      createAuthenticate(tenants, clientSecrets, data.embedTokens, config.sites, config.installationName),
      keyUses.note,
    ),
    authenticateSession: createAuthenticateSession(accounts.accounts, data.people, tenants, () => new Date()),
    useCases: composeUseCases(log, { ...parts, readLogo }, accounts.attempts),
    verifyPublicly: createVerifyPublicly(findPresent, invoices),
    readDocument: createReadDocument(findPresent, data.documents, parts.demand, clientSecrets),
    exportDeclaration: createExportDeclaration(data.periodSums, periodDocuments, writeDeclaration),
    exportArchive: createExportArchive({
      periodSums: data.periodSums,
      periodDocuments,
      documents: data.documents,
      invoices,
      demand: parts.demand,
      clock: storeClock(data.store.client),
    }),
    refuseReusedKey: (principal, key) =>
      refuseReusedKey(invoices, invoiceIds, requireScope(principal, accessOf('createInvoice').scope), key),
    unavailable(failure) {
      health.noteFailure(failure);
      return unavailability(failure);
    },
    graphql: await composeGraphql(runtime, metrics),
    authorityCallback: composeCallback(parts),
    accounts,
    embedding: {
      originsOf: data.embedTokens.originsOf,
      readLog: createReadEmbeddedLog(data.embedTokens, createDeliveryLedger(data.store.db), tenants, () => new Date()),
    },
    imports: {
      importFiles: parts.imports.needs.importFiles,
      returnedFile: parts.imports.returned,
      templates: workbookTemplates,
    },
    operations: operatorPages({
      agenda: jobs.agenda,
      exposition: metrics.exposition,
      audit: data.audit,
      operatorHash: parts.monitored.operatorHash,
      findOperator,
    }),
    operatorRoutes: composeOperations(runtime, { ...parts, readLogo, findOperator, hasAuthority: parts.live !== null }),
    measured(request) {
      parts.clients.note(request);
      metrics.request(request);
    },
    tracing: parts.tracing.counts && parts.tracing,
    recorded: recorder.record,
    ready: parts.monitored.ready,
    warnings: parts.monitored.warnings,
    trustedProxies: config.trustedProxies,
  });
  server.serve(koa.callback(), { log, limiter, streams });
}

/** Starts a judge that ends with this service. */
function ownPasswordJudge({ closing }: Runtime): PasswordJudge {
  const passwords = createPasswordJudge();
  closing.add(passwords.close);
  return passwords;
}

/** Returns the parts that handle the authority's callbacks; null without a secret, because then none are accepted. */
function composeCallback({ data, jobs, live }: HttpParts): AuthorityCallbackParts | null {
  if (!live || live.callbackSecret === null) return null;
  const limits = () => live.authority.capabilities().limits;
  const report = (err: unknown) => data.logFailure('warn', 'a hint of the authority could not be taken', err);
  return {
    key: callbackKey(live.callbackSecret),
    takeHint: createTakeHint(createTransmissions(data.store.db), jobs.queue, limits, report),
  };
}

/**
 * Returns the event streams. Each ends when its key is revoked, when the person's session or role has ended, or when
 * the token or the tenant of the single invoice that it may read has ended.
 */
function composeStreams({ closing }: Runtime, data: Data, metrics: Metrics): EventStreams {
  const { tenants, invoices, people, logFailure } = data;
  const report = (err: unknown) => logFailure('warn', 'open streams could not be checked for revoked credentials', err);
  const keys = createWatchRevocations(tenants.validKeys, report);
  const places = createWatchRevocations(people.validPlaces, report);
  const ownInvoices = createWatchRevocations(createPresentAmong(invoices, tenants), report);
  for (const each of [keys, places, ownInvoices]) closing.add(() => each.close());
  const streams = createEventStreams({
    follow(principal, onRevoked) {
      if (principal.kind === 'client') {
        const ends = [endAt(principal.expiresAt, onRevoked), ownInvoices.follow(principal.invoiceId, onRevoked)];
        return () => {
          for (const end of ends) end();
        };
      }
      if (principal.kind === 'person') return places.follow(placeOf(principal), onRevoked);
      return keys.follow(principal.keyId, onRevoked);
    },
    report: (err) => logFailure('warn', 'an event stream failed', err),
  });
  metrics.streams(streams.count);
  return streams;
}

/** Calls `onEnd` at `time`, or immediately if that is past. @returns a function that prevents the call */
function endAt(time: Date | undefined, onEnd: () => void): () => void {
  if (time === undefined) return () => undefined;
  const timer = setTimeout(onEnd, Math.max(0, time.getTime() - Date.now()));
  return () => clearTimeout(timer);
}

async function composeGraphql({ config: { graphql } }: Runtime, metrics: Metrics): Promise<GraphqlParts> {
  const operations = graphql.operations === null ? null : await readOperationList(graphql.operations);
  return { gate: createGate({ ...graphql, operations }), graphiql: graphql.graphiql, ran: metrics.operation };
}
