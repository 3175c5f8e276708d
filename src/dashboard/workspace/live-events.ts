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

/** The events of a tenant and environment as they happen, over one stream for all that follow them. */
export interface LiveEvents {
  /**
   * @param told called with the invoice of each event; with null when the connection is lost, and when it is open or
   *   back, because events may have been missed before
   * @returns ends it
   */
  follow(told: (invoiceId: string | null) => void): () => void;
}

/**
 * The client of a workspace and its events. The browser adds the cookie of the session to each request. A page that
 * nobody sees has no stream.
 * @param moved told of the connection of the stream
 * @returns with `close`, which ends the stream
 */
export function openWorkspace(tenantId: string, environment: Environment, moved: (connection: Connection) => void) {
  const followers = new Set<(invoiceId: string | null) => void>();
  const tell = (invoiceId: string | null) => {
    for (const told of followers) told(invoiceId);
  };
  // Data that a page reads before the stream is open may change unseen.
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
        // A page that reads now learns whether the session has ended.
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
