import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse, validate } from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Authenticate } from '../../src/domain/api-key/authenticate.ts';
import type { UseCases } from '../../src/graphql/context.ts';
import { schema } from '../../src/graphql/schema.ts';

/**
 * The peer of `graphql` that shows what everything except execution costs: graphql-jit on Node's own server, with each
 * document compiled once. Schema, resolvers, use cases and authentication are the service's. It checks nothing else.
 */
export async function startBareJit(
  authenticate: Authenticate,
  useCases: UseCases,
): Promise<{ url: string; close(): Promise<void> }> {
  const compiled = new Map<string, CompiledQuery>();

  function compiledOf(query: string): CompiledQuery {
    const known = compiled.get(query);
    if (known) return known;
    const document = parse(query);
    const errors = validate(schema, document);
    const made = errors.length > 0 ? null : compileQuery(schema, document);
    if (!made || !isCompiledQuery(made)) throw new Error('the query cannot be compiled');
    compiled.set(query, made);
    return made;
  }

  async function answer(request: IncomingMessage): Promise<string> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { query, variables } = JSON.parse(Buffer.concat(parts).toString()) as { query: string; variables: object };
    const principal = await authenticate(request.headers.authorization, {
      encrypted: false,
      forwarded: false,
      address: '127.0.0.1',
      host: '127.0.0.1',
    });
    return JSON.stringify(
      await compiledOf(query).query(undefined, { principal, requestId: 'req_bench', useCases }, variables),
    );
  }

  const server = createServer((request, response) => {
    answer(request).then(
      (text) => {
        response.setHeader('Content-Type', 'application/json; charset=utf-8');
        response.end(text);
      },
      (error: Error) => {
        response.statusCode = 500;
        response.end(error.message);
      },
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
