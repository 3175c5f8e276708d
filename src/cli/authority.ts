import { hostname, userInfo } from 'node:os';
import type { Outage } from '../domain/authority/breaker.ts';
import type { ReconciliationRun } from '../domain/authority/reconciliation.ts';
import type { Pause } from '../domain/authority/state.ts';
import { statusOf } from '../domain/authority/status.ts';
import { MOST_WAITING, OPERATOR_TEXTS } from '../domain/limits.ts';
import { LIVE_MS } from '../domain/live-workers.ts';
import { MOST_TENANTS } from '../domain/operations/survey.ts';
import { administer } from './administer.ts';
import type { Command } from './command.ts';
import { columns, harmless } from './terminal.ts';

const JSON_OPTION = { json: { description: 'Print an object' } } as const;

export const authorityStatus: Command = {
  name: 'authority status',
  summary: 'Shows whether live invoices go to the tax authority, and what waits',
  positionals: [],
  options: JSON_OPTION,
  details: `The breaker is closed (invoices are sent), open (only probes are sent) or half_open (one invoice is tried). Waiting invoices are
counted up to ${MOST_WAITING} for each tenant, of ${MOST_TENANTS} tenants. Workers are those with a heartbeat of the last ${LIVE_MS / 1000} seconds.`,
  async run(input, context) {
    const [state, workers, waiting, reconciled] = await administer(context, (administration) => {
      const { authorityState, members, invoices, lastReconciliation } = administration;
      return Promise.all([
        authorityState.read(),
        members.list(),
        invoices.transmissionsByTenant(MOST_TENANTS, MOST_WAITING),
        lastReconciliation(),
      ]);
    });
    const authority = context.config().authority?.url ?? null;
    const shown = statusOf(state, workers, new Date());
    const byTenant = waiting.map((each) => ({ tenant: each.tenantId, waiting: each.waiting }));
    const { terminal } = context;
    if (input.has('json')) {
      const { latestOutages, nextProbe, notBefore, inFlight, ...same } = shown;
      const status = {
        ...same,
        latest_outages: latestOutages,
        next_probe: nextProbe,
        not_before: notBefore,
        in_flight: inFlight,
      };
      terminal.print(
        JSON.stringify({ authority, ...status, waiting: byTenant, last_reconciliation: reconciliationOf(reconciled) }),
      );
    } else {
      const rows = [
        ['authority', authority ?? 'none is configured (DGI_URL): what waits is not sent'],
        ['breaker', shown.breaker + (shown.since ? ` since ${time(shown.since)}` : '')],
        ['outages', String(shown.outages)],
        ...shown.latestOutages.map((outage) => ['', outageText(outage)]),
        ['next probe', shown.nextProbe ? time(shown.nextProbe) : '-'],
        ['paused', shown.pause ? pauseText(shown.pause) : 'no'],
        ['rate limit', shown.notBefore ? `nothing is sent before ${time(shown.notBefore)}` : '-'],
        ['workers', String(shown.workers)],
        ['in flight', String(shown.inFlight)],
        ['reconciled', reconciled ? reconciliationText(reconciled) : 'never'],
        ['waiting', waiting.length === 0 ? '0' : ''],
        ...waiting.map((tenant) => [
          '',
          `${tenant.tenantId} ${tenant.waiting}${tenant.waiting >= MOST_WAITING ? ' or more' : ''}`,
        ]),
      ];
      terminal.print(columns(rows));
    }
    return 0;
  },
};

export const pauseAuthority: Command = {
  name: 'authority pause',
  summary: 'Stops every call to the tax authority; live invoices wait',
  positionals: [],
  options: {
    reason: { description: 'Why; shown by authority status', value: 'TEXT' },
    ...JSON_OPTION,
  },
  details: 'It takes effect within two seconds in all processes, survives restarts, and ends with authority resume.',
  async run(input, context) {
    const reason = input.find('reason')?.slice(0, OPERATOR_TEXTS.pauseReason) ?? null;
    const author = `${userInfo().username}@${hostname()}`;
    const pause = await administer(context, ({ operate }) => operate.pauseAuthority(null, author, reason));
    if (input.has('json')) context.terminal.print(JSON.stringify({ pause }));
    else context.terminal.print('Nothing is sent to the tax authority until authority resume.');
    return 0;
  },
};

export const resumeAuthority: Command = {
  name: 'authority resume',
  summary: 'Ends a pause; waiting live invoices are sent',
  positionals: [],
  options: JSON_OPTION,
  async run(input, context) {
    const ended = await administer(context, ({ operate }) => operate.resumeAuthority(null));
    if (input.has('json')) context.terminal.print(JSON.stringify({ ended }));
    else context.terminal.print(ended ? `The pause of ${pauseText(ended)} has ended.` : 'There was no pause.');
    return 0;
  },
};

function reconciliationOf(run: ReconciliationRun | null) {
  if (run === null) return null;
  const { startedAt, finishedAt, outcome, message, entries, healed } = run;
  return { started_at: startedAt, finished_at: finishedAt, outcome, message, entries, healed };
}

function reconciliationText({ finishedAt, outcome, message, entries }: ReconciliationRun): string {
  return harmless(`${time(finishedAt)}: ${outcome}, ${entries} entries read${message === null ? '' : `: ${message}`}`);
}

function outageText({ since, until }: Outage): string {
  if (until === null) return `from ${time(since)}`;
  return `from ${time(since)} to ${time(until)} (${Math.round((until.getTime() - since.getTime()) / 1000)} s)`;
}

function pauseText({ by, reason, since }: Pause): string {
  return harmless(`${by} since ${time(since)}${reason === null ? '' : `: ${reason}`}`);
}

function time(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}
