import { createGraphqlClient } from '../graphql/client.ts';
import { graphql } from '../graphql/graphql.ts';
import { whileSeen } from '../interface/while-seen.ts';
import type { Environment } from './session.ts';

const EVENTS = graphql(`
  subscription WorkspaceEvents($after: String) {
    invoiceEvents(after: $after) { cursor event { invoiceId } }
  }
`);

export type Connection = 'connecting' | 'live' | 'lost';

/** The events of a tenant and environment as they happen, over one stream for all followers. */
export interface LiveEvents {
  /**
   * Follows the events.
   * @param told called with the invoice of each event; called with null when the connection is lost, opened or
   * restored, because events may have been missed
   * @returns a function that stops it
   */
  follow(told: (invoiceId: string | null) => void): () => void;
}

/**
 * Opens the client of a workspace and its events. The browser adds the cookie of the session to each request. A hidden
 * page has no stream.
 * @param moved called when the state of the stream's connection changes
 * @returns the client and the events, and `close`, which ends the stream
 */
export function openWorkspace(tenantId: string, environment: Environment, moved: (connection: Connection) => void) {
  const followers = new Set<(invoiceId: string | null) => void>();
  const tell = (invoiceId: string | null) => {
    for (const told of followers) told(invoiceId);
  };
  // Data that a page reads before the stream opens may change without an event.
  let mayHaveMissed = true;
  let wasLost = false;
  const client = createGraphqlClient(
    { 'Fatoura-Tenant': tenantId, 'Fatoura-Environment': environment },
    {
      connected() {
        moved('live');
        if (mayHaveMissed) tell(null);
        mayHaveMissed = false;
        wasLost = false;
      },
      lost() {
        moved('lost');
        // When pages read again now, they notice whether the session has ended.
        if (!wasLost) tell(null);
        wasLost = true;
        mayHaveMissed = true;
      },
    },
  );
  const variables: { after: string | null } = { after: null };
  const close = whileSeen(() => {
    mayHaveMissed = true;
    const stream = client.subscription(EVENTS, variables).subscribe(({ data, error }) => {
      if (error) return moved('lost');
      if (!data) return;
      variables.after = data.invoiceEvents.cursor;
      tell(data.invoiceEvents.event.invoiceId);
    });
    return () => stream.unsubscribe();
  });
  const events: LiveEvents = {
    follow(told) {
      followers.add(told);
      return () => followers.delete(told);
    },
  };
  return { client, events, close };
}
