import { AUDIT_ACTIONS, type AuditAction } from '../../domain/audit-actions.ts';
import { AUDIT_DAYS, type RecordedEntry } from '../../domain/audit-entry.ts';
import type { Actor } from '../../domain/principal.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { connectionOf, pageRequest } from '../relay-page.ts';
import { EnvironmentType } from './environment.ts';
import './scalars.ts';

const AuditActionType = enumOf('AuditAction', 'A change in a tenant’s account.', AUDIT_ACTIONS);

const ACTORS: Readonly<Record<Actor['kind'], string>> = {
  key: 'A program with an API key.',
  person: 'Somebody who was signed in.',
  operator: 'Somebody who operates this service.',
};

const ActorKindType = enumOf('AuditActorKind', 'Who can change an account.', ACTORS);

export const AuditActorType = builder.objectRef<Actor>('AuditActor').implement({
  description: 'Who made a change.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ActorKindType, description: 'Key, person or operator.' }),
    actorId: t.id({
      nullable: true,
      description: 'Id of the key, prefix `key_`, or the person, prefix `per_`; null for an operator.',
      resolve: ({ id }) => id,
    }),
    name: t.string({ nullable: true, description: 'The person’s name at that time.', resolve: ({ name }) => name }),
  }),
});

const AuditDetailType = builder.objectRef<{ name: string; value: string }>('AuditDetail').implement({
  description: 'What else tells a change, such as the new role, or the names of the changed fields.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'For example `fields`, `role` or `replaces`.' }),
    value: t.exposeString('value', { description: 'Its value.' }),
  }),
});

const AuditEntryType = builder.objectRef<RecordedEntry>('AuditEntry').implement({
  description: 'A recorded change in a tenant’s account. It contains no secret.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Prefix `aud_`.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When it was made.' }),
    action: t.field({
      type: AuditActionType,
      description: 'What was done.',
      resolve: ({ action }) => action as AuditAction,
    }),
    environment: t.expose('environment', {
      type: EnvironmentType,
      nullable: true,
      description: 'Null if it concerns both.',
    }),
    actor: t.expose('actor', { type: AuditActorType, description: 'Who did it.' }),
    subject: t.exposeID('subject', {
      nullable: true,
      description: 'Id of what was changed: a key, an endpoint, an event, an invoice, a person or the tenant.',
    }),
    details: t.field({
      type: [AuditDetailType],
      description: 'What else tells the change.',
      resolve: ({ details }) => Object.entries(details).map(([name, value]) => ({ name, value })),
    }),
    address: t.string({
      nullable: true,
      description: 'Network address of the request; null for an operator at a terminal.',
      resolve: ({ origin }) => origin?.address ?? null,
    }),
    userAgent: t.string({
      nullable: true,
      description: 'What the browser or program said that it is.',
      resolve: ({ origin }) => origin?.userAgent ?? null,
    }),
    requestId: t.string({
      nullable: true,
      description: 'Request id of the change, prefix `req_`.',
      resolve: ({ origin }) => origin?.requestId ?? null,
    }),
  }),
});

const AuditEntryConnection = builder.connectionObject({ type: AuditEntryType, name: 'AuditEntryConnection' });

builder.queryField('auditLog', (t) =>
  t.connection(
    {
      type: AuditEntryType,
      authScopes: accessOf('auditLog'),
      description: `Who changed what in the tenant’s account in the last ${AUDIT_DAYS} days, in both environments, newest first. For owners.`,
      args: {
        actorId: t.arg.id({ description: 'Only what this key or person did. Not with `subject`.' }),
        subject: t.arg.id({ description: 'Only what was done to the object with this id.' }),
      },
      resolve: async (_root, args, { principal, useCases }) => {
        const asked = { ...pageRequest(args), actorId: args.actorId ?? null, subject: args.subject ?? null };
        return connectionOf(await useCases.auditLog(principal, asked), args);
      },
    },
    AuditEntryConnection,
  ),
);
