import { Binary } from 'bson';
import { asDoc } from '../query/types.ts';
import type { Command, Context } from './command.ts';

/** Ends the transactions and cursors of the sessions. Their retry records stay until they expire. */
const end: Command = {
  options: [],
  run: (context) => {
    for (const session of sessionsOf(context)) {
      context.store.transactions.abortSession(session);
      context.store.cursors.killSession(session);
    }
    return {};
  },
};

export const endSessions: Command = end;
export const killSessions: Command = end;
/**
 * Ends all transactions, and the cursors of all sessions. The engine has no users, so any `users` filter matches all.
 */
export const killAllSessions: Command = {
  options: [],
  run: ({ store }) => {
    store.transactions.abortAll();
    store.cursors.killSessions();
    return {};
  },
};
export const refreshSessions: Command = { options: [], run: () => ({}) };

function sessionsOf({ args, name }: Context): string[] {
  return (args.list(name) ?? []).flatMap((entry) => {
    const id = asDoc(entry)?.id;
    return id instanceof Binary ? [Buffer.from(id.buffer).toString('hex')] : [];
  });
}
