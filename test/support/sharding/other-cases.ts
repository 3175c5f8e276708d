import { randomUUID } from 'node:crypto';
import type { ApiKey } from '../../../src/domain/api-key/api-key.ts';
import { CLOSED } from '../../../src/domain/authority/breaker.ts';
import type { LedgerEntry } from '../../../src/domain/authority/ports.ts';
import type { BegunReconciliation, Finding, ReconciliationRun } from '../../../src/domain/authority/reconciliation.ts';
import { newId } from '../../../src/domain/ids.ts';
import { newRing } from '../../../src/domain/installation/key-ring.ts';
import { newCreationMoment } from '../../../src/domain/order-key.ts';
import { newInvitation } from '../../../src/domain/person/invitation.ts';
import { parseLogo } from '../../../src/domain/tenant/logo.ts';
import type { SignersCertificate } from '../../../src/domain/tenant/ports.ts';
import { createStageJobs } from '../../../src/jobs/stage-jobs.ts';
import { createAuditLog } from '../../../src/storage/audit-log.ts';
import { createDifferenceRepository } from '../../../src/storage/authority-differences.ts';
import { createLedgerCopy } from '../../../src/storage/authority-ledger.ts';
import { createAuthorityStateStore } from '../../../src/storage/authority-state.ts';
import { createClaimMembers } from '../../../src/storage/claim-members.ts';
import { createCodeTries } from '../../../src/storage/code-tries.ts';
import { createConditionReading } from '../../../src/storage/condition-reading.ts';
import { createConditionTellings } from '../../../src/storage/condition-tellings.ts';
import type { Store } from '../../../src/storage/connect.ts';
import { createDocumentStore } from '../../../src/storage/documents.ts';
import { createDraftStore } from '../../../src/storage/drafts.ts';
import { createStatisticsStore } from '../../../src/storage/endpoint-statistics.ts';
import { createStoreHealth } from '../../../src/storage/health.ts';
import { createInstallationRepository } from '../../../src/storage/installation.ts';
import { createSettledCounts } from '../../../src/storage/invoice-counts.ts';
import { createKeyRingStore } from '../../../src/storage/key-ring.ts';
import { createLogoStore } from '../../../src/storage/logos.ts';
import { createOrphanCollector } from '../../../src/storage/orphan-documents.ts';
import { createPeopleRepository } from '../../../src/storage/people.ts';
import { createAttemptLimiter, createRateLimiter } from '../../../src/storage/rate-limiter.ts';
import { createReconciliationState } from '../../../src/storage/reconciliation-state.ts';
import { createRequestLog } from '../../../src/storage/request-log.ts';
import { createSeriesTurns } from '../../../src/storage/series-turns.ts';
import { createSignersCertificates } from '../../../src/storage/signers-certificates.ts';
import { createSubmissionLedger } from '../../../src/storage/submission-ledger.ts';
import { createTenantRepository } from '../../../src/storage/tenants.ts';
import { LOGO } from '../../unit/pdf/support.ts';
import { drained, LEASE_MS, SENDS_NOTHING, type Subject, subject } from './cases.ts';
import { importCases } from './import-cases.ts';

const COLLECTOR = 'the collector reads the new files of all shards once an hour, 500 at a time';
const SIMULATED = 'the ledger of the mock authority is read in the order of its decisions, for tests of reconciliation';
const sha256 = (text: string) => Buffer.from(text).toString('hex').padEnd(64, '0').slice(0, 64);

export function otherCases(store: Store): Record<string, Subject> {
  return {
    createTenantRepository: tenantCases(store),
    createPeopleRepository: peopleCases(store),
    createCodeTries: codeTriesCases(store),
    createSettledCounts: settledCountsCases(store),
    createAuditLog: auditLogCases(store),
    createDraftStore: draftCases(store),
    ...importCases(store),
    createConditionReading: conditionCases(store),
    createConditionTellings: tellingCases(store),
    createRequestLog: requestLogCases(store),
    createSeriesTurns: seriesTurnsCases(store),
    createStatisticsStore: statisticsCases(store),
    createLogoStore: logoCases(store),
    ...documentCases(store),
    ...authorityCases(store),
    ...processCases(store),
  };
}

function tenantCases({ db }: Store): Subject {
  const tenants = createTenantRepository(db);
  const keyNamed = (id: string): ApiKey => ({
    id,
    kind: 'secret',
    environment: 'test',
    lastFour: '0000',
    createdAt: new Date(),
    name: null,
    revokedAt: null,
    lastUsedAt: null,
  });
  async function stored(): Promise<{ id: string; key: ApiKey }> {
    const [id, key] = [newId('ten'), keyNamed(newId('key'))];
    await tenants.insert({ id, name: 'T', profile: { logo: parseLogo(LOGO) }, createdAt: new Date() }, [
      { key, hash: sha256(key.id) },
    ]);
    return { id, key };
  }
  return subject(tenants, {
    insert: stored,
    find: async () => tenants.find((await stored()).id),
    limitRequests: async () => tenants.limitRequests((await stored()).id, 5),
    namesOf: async () => tenants.namesOf([(await stored()).id]),
    list: () => tenants.list(),
    page: async () => {
      await tenants.page(null, 5);
      await tenants.page((await stored()).id, 5);
    },
    setSuspended: async () => {
      const { id } = await stored();
      await tenants.setSuspended(id, new Date());
      await tenants.setSuspended(id, null);
    },
    updateProfile: async () => tenants.updateProfile((await stored()).id, { logo: parseLogo(LOGO) }),
    changeProfile: async () => tenants.changeProfile((await stored()).id, { cnss: '1' }, true),
    admitLogo: async () => tenants.admitLogo((await stored()).id, 'a', 3),
    findByKeyHash: async () => tenants.findByKeyHash(sha256((await stored()).key.id)),
    findByKeyId: async () => tenants.findByKeyId((await stored()).key.id),
    renameKey: async () => tenants.renameKey((await stored()).key.id, 'Shop'),
    keepKeyUses: async () => tenants.keepKeyUses([{ keyId: (await stored()).key.id, at: new Date() }]),
    insertKey: async () => tenants.insertKey((await stored()).id, keyNamed(newId('key')), newId('key'), 9, 9),
    keysOf: async () => tenants.keysOf((await stored()).id),
    presentAmong: async () => tenants.presentAmong([(await stored()).id, 'ten_1']),
    validKeys: async () => tenants.validKeys([(await stored()).key.id, 'key_1']),
    revokeKey: async () => tenants.revokeKey((await stored()).key.id, new Date()),
    revokeOwnKey: async () => {
      const { id, key } = await stored();
      await tenants.revokeOwnKey(id, key, new Date(), true);
    },
    isEmpty: () => tenants.isEmpty(),
    isErased: async () => tenants.isErased((await stored()).id),
  });
}

function peopleCases({ db }: Store): Subject {
  const people = createPeopleRepository(db);
  const [email, tenantId] = ['a@example.com', newId('ten')];
  const grants = { isOperator: true, memberships: [{ tenantId, role: 'owner' as const }] };
  async function invited(): Promise<string> {
    const { invitation } = newInvitation({ email, grants, invitedBy: null }, new Date());
    await people.insertInvitation(invitation);
    return invitation.id;
  }
  async function granted(): Promise<string> {
    const id = newId('per');
    await people.grant(id, grants);
    return id;
  }
  return subject(people, {
    grantsOf: async () => people.grantsOf(await granted()),
    membersOf: async () => {
      await granted();
      await people.membersOf(tenantId);
    },
    invitationsOf: async () => {
      await invited();
      await people.invitationsOf(tenantId, 5, new Date());
    },
    revokeInvitation: async () => people.revokeInvitation(tenantId, await invited(), new Date()),
    memberOf: async () => people.memberOf(tenantId, await granted()),
    removeOperator: async () => {
      const person = { _id: newId('per'), email: 'b@example.com', name: 'X' };
      await db.collection<typeof person>('people').insertOne(person);
      await people.removeOperator('b@example.com');
    },
    changeRole: async () => people.changeRole(await granted(), tenantId, 'viewer'),
    grant: async () => people.grant(await granted(), grants),
    validPlaces: async () =>
      people.validPlaces([JSON.stringify({ sessionId: 's', personId: await granted(), tenantId: 't', role: 'owner' })]),
    removeSecondFactors: async () => {
      const person = { _id: newId('per'), email, name: 'X' };
      await db.collection<typeof person>('people').insertOne(person);
      await people.removeSecondFactors(email);
    },
    insertInvitation: invited,
    reserveInvitation: async () => people.reserveInvitation(await invited(), email, new Date()),
    claimInvitation: async () => people.claimInvitation(await invited(), email, new Date()),
    findInvitation: async () => people.findInvitation(await invited(), new Date()),
    endInvitation: async () => people.endInvitation(await invited()),
  });
}

function codeTriesCases({ db }: Store): Subject {
  const tries = createCodeTries(db);
  async function withCodes(): Promise<string> {
    const userId = newId('per');
    await db.collection('person_codes').insertOne({ userId, failedVerificationCount: 0 });
    return userId;
  }
  return subject(tries, {
    take: async () => tries.take(await withCodes()),
    giveBack: async () => tries.giveBack(await withCodes()),
    clear: async () => tries.clear(await withCodes()),
  });
}

function settledCountsCases({ db }: Store): Subject {
  const counts = createSettledCounts(db);
  const whole = { pending: 0, signing: 0, transmitted: 0, accepted: 1, rejected: 0 };
  return subject(counts, {
    keep: () => counts.keep('ten_1', 'test', '2026-01-31', { whole, hours: new Map([[0, whole]]), begun: null }),
    find: () => counts.find('ten_1', 'test', ['2026-01-31']),
  });
}

function requestLogCases({ db }: Store): Subject {
  const log = createRequestLog(db);
  const owner = { tenantId: 'ten_1', environment: 'test' } as const;
  const id = `req_${randomUUID()}`;
  const list = { limit: 5, cursor: null, from: null, until: null, failed: false, kind: null };
  const record = {
    ...owner,
    id,
    at: new Date(),
    method: 'GET',
    route: '/',
    operation: null,
    documentId: null,
    status: 404,
  };
  const because = 'one page, asked for by a person';
  return subject(log, {
    insert: () =>
      log.insert([{ ...record, milliseconds: 1, code: 'c', param: null, keyId: 'key_1', standsFor: 1, order: 'a' }]),
    find: () => log.find('ten_1', 'test', id),
    page: [
      { call: () => log.page({ ...owner, ...list }), scatters: ['find request_log by environment, tenantId'], because },
      {
        call: () => log.page({ ...owner, ...list, failed: true }),
        scatters: ['find request_log by environment, failed, tenantId'],
        because,
      },
    ],
    failures: {
      call: () => log.failures('ten_1', 'test', new Date(), 5),
      scatters: ['find request_failures by _id'],
      because,
    },
  });
}

function statisticsCases({ db }: Store): Subject {
  const statistics = createStatisticsStore(db);
  const [at, results] = [new Date('2026-11-23T22:00:00Z'), { delivered: 1, failed: 1 }];
  const hour = { at, first: results, retries: results, latencies: [1, 2] };
  return subject(statistics, {
    add: () => statistics.add(new Map([['we_1', [hour]]])),
    read: () => statistics.read('we_1', [at, new Date('2026-11-23T21:00:00Z')]),
  });
}

function seriesTurnsCases({ db }: Store): Subject {
  const turns = createSeriesTurns(db, (failure) => {
    throw failure;
  });
  return subject(turns, { enter: async () => (await turns.enter(newId('ten')))() });
}

function draftCases({ db }: Store): Subject {
  const drafts = createDraftStore(db);
  const owner = { tenantId: 'ten_1', environment: 'test' } as const;
  const list = { ...owner, limit: 5, cursor: null, from: null, until: null };
  const written = { updatedAt: new Date(), updatedBy: { kind: 'key', id: 'key_1', name: null } } as const;
  async function stored(): Promise<string> {
    const made = { ...owner, id: newId('drf'), ...newCreationMoment(), version: 1, content: '{}', issuingUntil: null };
    return (await drafts.insert({ ...made, ...written })).id;
  }
  const read = async () => ({ id: await stored(), version: 1, issuingUntil: null });
  const scatters = (command: string) => [`${command} drafts by environment, tenantId`];
  return subject(drafts, {
    insert: stored,
    find: async () => drafts.find(await stored()),
    count: {
      call: () => drafts.count(owner, 9),
      scatters: scatters('count'),
      because: 'a tenant has few drafts, and a person creates one',
    },
    page: { call: () => drafts.page(list), scatters: scatters('find'), because: 'one page, asked for by a person' },
    change: async () => drafts.change(await read(), { ...written, version: 2, content: '{"a":1}' }),
    remove: async () => drafts.remove(await read()),
    hold: async () => drafts.hold(await stored(), 1, new Date()),
    release: async () => drafts.release(await stored(), 1),
    removeIssued: async () => drafts.removeIssued(await stored(), 1),
  });
}

function conditionCases({ db }: Store): Subject {
  const reading = createConditionReading(db);
  const owner = { tenantId: 'ten_1', environment: 'test' } as const;
  const because = 'asked for by a person';
  const ofInvoices = { scatters: ['find invoices by environment, kind, order, status, tenantId'], because };
  return subject(reading, {
    rejected: { call: () => reading.rejected(owner, 0, 5), ...ofInvoices },
    waiting: { call: () => reading.waiting(owner, Date.now(), 5), ...ofInvoices },
    idleDrafts: {
      call: () => reading.idleDrafts(owner, Date.now(), 5),
      scatters: ['find drafts by environment, order, tenantId'],
      because,
    },
  });
}

function tellingCases({ db }: Store): Subject {
  const tellings = createConditionTellings(db);
  return subject(tellings, {
    take: () => tellings.take(new Date(0), new Date(), 5),
    keep: () => tellings.keep('ten_1', { at: null, codes: [] }),
  });
}

function auditLogCases({ db }: Store): Subject {
  const log = createAuditLog(db);
  const id = newId('aud');
  const change = { action: 'tenant.created', tenantId: 'ten_1', environment: null, origin: null } as const;
  const actor = { kind: 'operator', id: null, name: null } as const;
  const list = { tenantId: 'ten_1', limit: 5, cursor: null, from: null, until: null, actorId: null, subject: null };
  const because = 'one page, asked for by a person';
  return subject(log, {
    insert: () => log.insert([{ ...change, id, at: new Date(), order: 'a', actor, subject: 'ten_1', details: {} }]),
    find: () => log.find('ten_1', id),
    page: [
      { call: () => log.page(list), scatters: ['find audit_log by tenantId'], because },
      {
        call: () => log.page({ ...list, actorId: 'key_1' }),
        scatters: ['find audit_log by actor.id, tenantId'],
        because,
      },
      {
        call: () => log.page({ ...list, subject: 'key_1' }),
        scatters: ['find audit_log by subject, tenantId'],
        because,
      },
    ],
  });
}

function logoCases({ db }: Store): Subject {
  const logos = createLogoStore(db);
  return subject(logos, { put: () => logos.put(parseLogo(LOGO)), find: () => logos.find(parseLogo(LOGO)) });
}

function documentCases({ db }: Store): Record<string, Subject> {
  const documents = createDocumentStore(db);
  const put = () => documents.put(Buffer.from('<a/>'), `${newId('inv')}.xml`, 'application/xml');
  const orphans = createOrphanCollector(db);
  return {
    createDocumentStore: subject(documents, {
      put,
      get: async () => documents.get(await put()),
      read: async () => drained(documents.read(await put(), { first: 1, last: 2 })),
    }),
    createOrphanCollector: subject(orphans, {
      collect: {
        call: async () => {
          const invoice = newId('inv');
          await db.collection<{ _id: string }>('invoices').insertOne({ _id: invoice });
          await documents.put(Buffer.from('<a/>'), `${invoice}.xml`, 'application/xml');
          if ((await orphans.collect(new Date(Date.now() + 2 * 3_600_000))) === 0)
            throw new Error('nothing was removed');
        },
        // The second page of the chunks also has a lower bound, and is still a range of a hashed key.
        scatters: ['find documents.chunks by files_id'],
        because: COLLECTOR,
      },
    }),
  };
}

function authorityCases({ db }: Store): Record<string, Subject> {
  const copy = createLedgerCopy(db);
  const entry = (submissionId: string, digest: string): LedgerEntry => ({
    submissionId,
    sha256: sha256(digest),
    decision: { outcome: 'accepted', dgiId: 'DGI-1', decidedAt: new Date(0) },
  });
  const differences = createDifferenceRepository(db);
  const finding: Finding = {
    kind: 'unknown_submission',
    submissionId: 'inv_1',
    invoiceId: null,
    tenantId: null,
    ours: null,
    theirs: null,
  };
  const states = createAuthorityStateStore(db);
  const reconciliation = createReconciliationState(db);
  let begun: BegunReconciliation | null = null;
  const ledger = createSubmissionLedger(db);
  const row = { submissionId: newId('inv'), sha256: sha256('a'), receivedAt: new Date(), receiptAt: new Date() };
  const decided = { decision: entry('inv_1', 'a').decision, decisionAt: new Date(0) };
  return {
    createLedgerCopy: subject(copy, {
      keep: async () => {
        await copy.keep([entry('inv_1', 'a'), entry('inv_2', 'a')]);
        if ((await copy.keep([entry('inv_1', 'b')])) !== 1) throw new Error('nothing was changed');
      },
      find: () => copy.find(['inv_1', 'inv_2']),
    }),
    createDifferenceRepository: subject(differences, {
      observe: () => differences.observe([finding], new Date()),
      unresolved: () => differences.unresolved(finding.kind, null, 5),
      acknowledge: [
        () => differences.acknowledge(finding.kind, 'inv_1', { at: new Date(), reason: 'known' }),
        () => differences.acknowledge(finding.kind, 'inv_none', { at: new Date(), reason: 'known' }),
      ],
      resolve: () => differences.resolve(finding.kind, ['inv_1'], new Date()),
      count: () => differences.count(),
    }),
    createAuthorityStateStore: subject(states, {
      read: () => states.read(),
      update: () => states.update((state) => ({ next: { ...state, ...CLOSED }, result: null })),
      postpone: () => states.postpone(new Date()),
      pause: () => states.pause({ by: 'me', reason: null, since: new Date() }),
      resume: () => states.resume(),
    }),
    createReconciliationState: subject(reconciliation, {
      begin: async () => {
        begun = await reconciliation.begin(LEASE_MS);
      },
      advance: () => reconciliation.advance(begun?.token ?? '', LEASE_MS, { stalled: 1 }),
      end: () => reconciliation.end(begun?.token ?? '', {} as ReconciliationRun, {}),
      release: () => reconciliation.release(begun?.token ?? ''),
      last: () => reconciliation.last(),
    }),
    createSubmissionLedger: subject(ledger, {
      record: async () => {
        await ledger.record({ ...row, ...decided });
        await ledger.record({ ...row, ...decided });
      },
      find: () => ledger.find(row.submissionId),
      decided: [
        {
          call: () => ledger.decided({ decisionAt: new Date(0), submissionId: 'inv_1' }, new Date(), 5),
          scatters: ['find mock_submissions by $or, decisionAt'],
          because: SIMULATED,
        },
        {
          call: () => ledger.decided(null, new Date(), 5),
          scatters: ['find mock_submissions by decisionAt'],
          because: SIMULATED,
        },
      ],
      latest: {
        call: () => ledger.latest(new Date()),
        scatters: ['find mock_submissions by decisionAt'],
        because: SIMULATED,
      },
      countRefusal: () => ledger.countRefusal(row.submissionId),
    }),
  };
}

/** The data that processes share. */
function processCases({ db }: Store): Record<string, Subject> {
  const members = createClaimMembers(db);
  const installation = createInstallationRepository(db);
  const ring = createKeyRingStore(db);
  const aRing = newRing(new Uint8Array(32), new Date());
  const certificates = createSignersCertificates(db);
  const certificate: SignersCertificate = {
    signer: 'platform',
    subject: 'CN=P',
    issuer: 'CN=P',
    serialNumber: '1',
    fingerprint: 'f',
    validFrom: new Date(),
    validTo: new Date(),
    testOnly: true,
    findings: [],
  };
  const attempts = createAttemptLimiter(db);
  const limiter = createRateLimiter({ secret: 1, tenant: 1, publishable: 1, address: 1, common: 1 }, db);
  const health = createStoreHealth(db, { began: () => {}, ended: () => {} });
  const jobs = createStageJobs(db, 'w');
  const work = { invoiceId: newId('inv'), environment: 'test', stage: 'sign', since: new Date() } as const;
  return {
    createClaimMembers: subject(members, {
      heartbeat: () => members.heartbeat({ id: 'w', at: new Date() }),
      list: () => members.list(),
      forget: () => members.forget('w', null),
    }),
    createInstallationRepository: subject(installation, {
      keepOperatorHash: () => installation.keepOperatorHash('h'),
      replaceOperatorHash: () => installation.replaceOperatorHash('h'),
      rememberDemoTenant: () => installation.rememberDemoTenant('ten_1'),
      demoTenant: () => installation.demoTenant(),
      operatorHash: () => installation.operatorHash(),
      keepInvoiceIdSecret: () => installation.keepInvoiceIdSecret('s'),
    }),
    createKeyRingStore: subject(ring, {
      read: () => ring.read(),
      keep: async () => {
        await ring.keep(aRing);
        await ring.keep(aRing);
      },
      replace: () => ring.replace({ ...aRing, revision: 2 }),
      forgetMaster: () => ring.forgetMaster(),
    }),
    createSignersCertificates: subject(certificates, {
      tell: () => certificates.tell([certificate], new Date()),
      list: () => certificates.list(new Date()),
      of: () => certificates.of('ten_x', new Date()),
    }),
    createAttemptLimiter: subject(attempts, { attempt: () => attempts.attempt('account', newId('per')) }),
    createRateLimiter: subject(limiter, {
      consume: [
        () => limiter.consume('secret', 'key_1'),
        async () => {
          const window = { _id: 'secret:key_1' as never };
          await db.collection('rate_windows').updateOne(window, { $set: { expire: new Date(0) } });
          await limiter.consume('secret', 'key_1');
        },
      ],
      uncounted: SENDS_NOTHING,
    }),
    createStoreHealth: subject(health, {
      trouble: () => health.trouble(),
      noteFailure: SENDS_NOTHING,
      close: SENDS_NOTHING,
    }),
    createStageJobs: subject(jobs, {
      add: () => jobs.add(work, 0, new Date()),
      addShared: () => jobs.addShared(work, { lane: 'stages', range: 0 }, new Date()),
      wake: () => jobs.wake({ lane: 'stages', range: 0 }, 1),
      removeOldWakes: () => jobs.removeOldWakes(),
    }),
  };
}
