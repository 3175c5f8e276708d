/** The types of events that endpoints subscribe to, in the order of an invoice's life (specification, "Events"). */
export const EVENT_TYPES = ['invoice.signing', 'invoice.transmitted', 'invoice.accepted', 'invoice.rejected'] as const;
export type EventType = (typeof EVENT_TYPES)[number];
