import { describe, expect, it } from 'vitest';
import {
  EVENT_TYPES,
  enumNameOf,
  eventOfStatus,
  eventTypeNamed,
  eventTypesOf,
  kindOfEvent,
  statusOfEvent,
} from '../../../src/domain/event.ts';
import { transition } from '../../../src/domain/invoice/changes.ts';
import { KIND_NAMES } from '../../../src/domain/invoice/kinds.ts';
import { pendingInvoice } from '../../support/invoices.ts';

const CHANGES = ['signing', 'transmitted', 'accepted', 'rejected'] as const;

it('these are all event types, those of invoices first', () => {
  expect(EVENT_TYPES).toEqual([
    'invoice.signing',
    'invoice.transmitted',
    'invoice.accepted',
    'invoice.rejected',
    'credit_note.signing',
    'credit_note.transmitted',
    'credit_note.accepted',
    'credit_note.rejected',
  ]);
});

describe.each(KIND_NAMES)('%s', (kind) => {
  it('has the event of each status, which says both', () => {
    for (const status of CHANGES) {
      const type = eventOfStatus(kind, status);
      expect(type).toBe(`${kind}.${status}`);
      expect([kindOfEvent(type), statusOfEvent(type)]).toEqual([kind, status]);
      expect(eventTypeNamed(enumNameOf(type))).toBe(type);
    }
    expect(eventTypesOf(kind)).toEqual(CHANGES.map((status) => `${kind}.${status}`));
  });

  it('emits its own event when its status changes', () => {
    const { events } = transition(pendingInvoice({ kind }), 'signing');
    expect(events).toMatchObject([{ type: `${kind}.signing`, status: 'signing', sequence: 1 }]);
  });
});
