import { Binary } from 'bson';
import { CommandError } from '../errors.ts';
import { asDoc } from '../query/types.ts';
import type { Command, Context } from './command.ts';

/**
 * Ends the transactions and cursors of the sessions. Their running writes continue, and their retry records stay until
 * they expire.
 */
export const endSessions: Command = {
  options: [],
  run: (context) => {
    for (const session of sessionsOf(context)) endSession(context, session);
    return {};
  },
};

/** Like `endSessions`, but also ends the running writes of the sessions. */
export const killSessions: Command = {
  options: [],
  run: (context) => {
    const sessions = new Set(sessionsOf(context));
    const isMeant = (session: string | undefined) => session !== undefined && sessions.has(session);
    context.store.runningWrites.interrupt(isMeant, interrupted());
    for (const session of sessions) endSession(context, session);
    return {};
  },
};

function endSession({ store }: Context, session: string): void {
  store.transactions.abortSession(session);
  store.cursors.killSession(session);
}

const interrupted = (): CommandError => new CommandError('Interrupted', 'operation was interrupted');

/**
 * Ends all transactions, and the cursors and writes of all sessions. The engine has no users, so any `users` filter
 * matches all.
 */
export const killAllSessions: Command = {
  options: [],
  run: ({ store }) => {
    store.runningWrites.interrupt((session) => session !== undefined, interrupted());
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
