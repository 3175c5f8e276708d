import { type Command, UsageError } from '../../../src/cli/command.ts';
import { type Access, accessOf } from '../../../src/cli/webhooks/service.ts';
import { clientOf } from './connection.ts';

/** What an agent may do. Its tenant and environment are those of the key. */
export interface Permissions {
  readonly mayIssue: boolean;
}

/** The module beside this one in a build. It is apart because its package is needed by nothing else. */
interface Server {
  serve(access: Access, permissions: Permissions, version: string): Promise<void>;
}

/** Makes the command that serves an agent. @param version of this program */
export function mcpOf(version: string): Command {
  return {
    name: 'mcp',
    summary: 'Serves an agent over standard input and output (Model Context Protocol)',
    positionals: [],
    options: {
      'allow-issue': { description: 'The agent may issue drafts and credit invoices too' },
      live: { description: 'The key may be one of the live environment' },
      json: { description: 'Changes nothing: the protocol is JSON' },
    },
    details: `The agent reads invoices, validates, and writes drafts, which have no legal effect. Tenant and environment are those of the
key, and stay so until the end: no tool takes a key or an address.`,
    async run(input, context) {
      const access = await accessOf(input, context);
      if (access.environment === 'live' && !input.has('live'))
        throw new UsageError('the key is of the live environment: --live allows that');
      // A key that does not work is said here, not to the agent.
      await (await clientOf(input, context)).invoices.list({ limit: 1 }).page();
      const { serve } = await load();
      await serve(access, { mayIssue: input.has('allow-issue') }, version);
      return 0;
    },
  };
}

async function load(): Promise<Server> {
  try {
    return (await import(/* @vite-ignore */ new URL('./mcp.js', import.meta.url).href)) as Server;
  } catch (error) {
    throw new Error('This build has no server for agents: npm ci and npm run build in clients/cli make one.', {
      cause: error,
    });
  }
}
