import type { AnyVariables, Client, TypedDocumentNode } from '@urql/core';
import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Session } from '../account/account-api.ts';
import { isRefusal, isSessionEnd } from '../graphql/client.ts';
import type { LiveEvents } from './live-events.ts';
import { type Environment, signInAddress } from './session.ts';

/** The tenant and the environment that the pages of a signed-in person show. */
export interface Workspace {
  /** The person who is signed in. */
  readonly personId: string;
  readonly tenant: Session['memberships'][number];
  readonly environment: Environment;
  /** The start of the addresses of its pages. */
  readonly address: string;
  readonly client: Client;
  readonly events: LiveEvents;
}

export const WorkspaceContext = createContext<Workspace | null>(null);

export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (!workspace) throw new Error('useWorkspace needs a Workspace');
  return workspace;
}

export interface Read<Data> {
  /** The data; null until the first answer. While it is read again, the earlier data remains. */
  readonly data: Data | null;
  /** `refused`: this person can see no such object. `failed`: the service cannot be reached. */
  readonly problem: 'refused' | 'failed' | null;
  readonly reload: () => void;
}

/**
 * Runs a query, and again when its variables change. An older answer never replaces a newer one. If the session has
 * ended, the page redirects to the sign-in form.
 */
export function useRead<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Read<Data> {
  const { client } = useWorkspace();
  const { route } = useLocation();
  const [answer, setAnswer] = useState<{ key: string; data: Data | null; problem: Read<Data>['problem'] } | null>(null);
  const turns = useRef(0);
  const key = JSON.stringify(variables);
  const latest = useRef(key);
  latest.current = key;

  async function read(): Promise<void> {
    const turn = ++turns.current;
    const asked = latest.current;
    const { data, error } = await client.query(document, JSON.parse(asked)).toPromise();
    if (turn !== turns.current) return;
    if (error && isSessionEnd(error)) return route(signInAddress(), true);
    setAnswer((earlier) => {
      if (!error && data) return { key: asked, data, problem: null };
      const shown = earlier?.key === asked ? earlier.data : null;
      return { key: asked, data: shown, problem: error && isRefusal(error) ? 'refused' : 'failed' };
    });
  }
  useEffect(() => {
    void read();
    return () => {
      turns.current++;
    };
  }, [client, document, key]);
  const current = answer?.key === key ? answer : null;
  return { data: current?.data ?? null, problem: current?.problem ?? null, reload: () => void read() };
}

/** Calls `changed` after events, at most once a second, and when the connection is lost or restored. */
export function useLive(concerns: (invoiceId: string) => boolean, changed: () => void): void {
  const { events } = useWorkspace();
  const latest = useRef({ concerns, changed });
  latest.current = { concerns, changed };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const unfollow = events.follow((invoiceId) => {
      if (timer !== undefined || (invoiceId !== null && !latest.current.concerns(invoiceId))) return;
      timer = setTimeout(() => {
        timer = undefined;
        latest.current.changed();
      }, PAUSE_MS);
    });
    return () => {
      unfollow();
      clearTimeout(timer);
    };
  }, [events]);
}

/** Events within this time cause one call, milliseconds. */
const PAUSE_MS = 1000;
