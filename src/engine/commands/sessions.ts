import { Binary } from 'bson';
import { asDoc } from '../query/types.ts';
import type { Command, Context } from './command.ts';

/** Ends the sessions' cursors. Their retry records stay until they expire. */
const end: Command = {
  options: [],
  run: (context) => {
    for (const session of sessionsOf(context)) context.store.cursors.killSession(session);
    return {};
  },
};

export const endSessions: Command = end;
export const killSessions: Command = end;
export const refreshSessions: Command = { options: [], run: () => ({}) };

function sessionsOf({ args, name }: Context): string[] {
  return (args.list(name) ?? []).flatMap((entry) => {
    const id = asDoc(entry)?.id;
    return id instanceof Binary ? [Buffer.from(id.buffer).toString('hex')] : [];
  });
}
