import { EVENTS, type RolesChaosOutcome } from './roles-chaos.ts';

/**
 * Returns a sentence for each promise that a run broke: nothing may be lost or doubled, by the records of all
 * participants.
 */
export function brokenPromises(outcome: RolesChaosOutcome): string[] {
  const { created, invoices, ledger, received, streams } = outcome;
  const problems: string[] = [];
  const stored = new Map(invoices.map((invoice) => [invoice._id, invoice]));
  for (const [key, id] of created) if (!stored.has(id)) problems.push(`${key} was answered ${id}, which is lost`);
  if (new Set(created.values()).size !== created.size) problems.push('two creations have the same invoice');
  if (stored.size !== created.size) problems.push(`${created.size} creations were answered, ${stored.size} are stored`);
  const held = new Map(ledger.map(({ _id, decision }) => [_id, decision.dgiId]));
  for (const { _id } of ledger) if (!stored.has(_id)) problems.push(`the authority holds ${_id}, which is no invoice`);
  for (const { _id, status, dgiId, events } of invoices) {
    const flaw = (text: string) => problems.push(`${_id}: ${text}`);
    if (status !== 'accepted') flaw(`it is ${status}`);
    if (held.get(_id) !== dgiId) flaw(`its identifier is ${dgiId}, and the authority says ${held.get(_id)}`);
    const types = events.map(({ type }) => type);
    if (types.join() !== EVENTS.join()) flaw(`its events are ${types}`);
    const got = received.get(_id) ?? [];
    if (got.map(({ type }) => type).join() !== EVENTS.join()) flaw(`the receiver got ${got.map(({ type }) => type)}`);
    if (got.some(({ id }) => !events.some((event) => event.id === id)))
      flaw('the receiver got an event that is not stored');
  }
  const serials = invoices.map(({ series }) => series?.serial ?? 0).sort((a, b) => a - b);
  if (serials.some((serial, nth) => serial !== nth + 1)) problems.push('the numbers have a gap or a double');
  for (const { invoiceId, statuses, silent, ended } of streams) {
    const all = ['signing', 'transmitted', 'accepted'];
    // The stream begins with the present status, and then has each change once.
    if (!ended || statuses.length === 0 || statuses.join() !== all.slice(-statuses.length).join())
      problems.push(`${invoiceId}: its stream had ${statuses}${ended ? '' : ' and did not end'}`);
    if (silent > 0) problems.push(`${invoiceId}: its stream was dead without a sign, ${silent} times`);
  }
  return problems;
}
